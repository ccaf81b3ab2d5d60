package io.kvtier.layout;

import java.util.Objects;

/**
 * The shape of the KV that one rank holds for a token, and by it the shape of an object: {@code [planes, layers,
 * tokens, heads * headSize]} elements in this order, without padding. Two objects with unequal layouts are never the
 * same object: the layout is part of the identity.
 *
 * @param format arrangement of the planes
 * @param elementType number format of an element
 * @param layers layers in the object
 * @param heads KV heads of this rank
 * @param headSize elements per head
 * @param groups object groups that the engine's layers are split into (1 where all layers are alike)
 */
public record KvLayout(KvFormat format, ElementType elementType, int layers, int heads, int headSize, int groups) {

    /**
     * Checks the dimensions.
     *
     * @throws IllegalArgumentException if a dimension is below 1, or a token's KV exceeds 2 GiB
     */
    public KvLayout {
        requirePositive("layers", layers);
        requirePositive("heads", heads);
        requirePositive("headSize", headSize);
        requirePositive("groups", groups);
        if (bytesPerToken(format, elementType, layers, heads, headSize) > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("KV of one token exceeds 2 GiB: layers=" + layers + ", heads=" + heads
                    + ", headSize=" + headSize + ", elementType=" + elementType);
        }
    }

    /** Returns the layout of keys and values apart, in one group. */
    public static KvLayout keyValue(ElementType elementType, int layers, int heads, int headSize) {
        return new KvLayout(KvFormat.KEY_VALUE, elementType, layers, heads, headSize, 1);
    }

    /** Returns the layout of one latent vector per token and layer, in one group. */
    public static KvLayout latent(ElementType elementType, int layers, int headSize) {
        return new KvLayout(KvFormat.LATENT, elementType, layers, 1, headSize, 1);
    }

    /**
     * Returns the layout of objects that are so many bytes per token and nothing else.
     *
     * @throws IllegalArgumentException if {@code bytesPerToken} is below 1
     */
    public static KvLayout opaque(int bytesPerToken) {
        return new KvLayout(KvFormat.OPAQUE, ElementType.U8, 1, 1, bytesPerToken, 1);
    }

    /** Returns the number of planes: 2 where keys and values are apart, else 1. */
    public int planes() {
        return format.planes();
    }

    /** Returns the bytes of one token in one plane of one layer: the unit that slot mappings address. */
    public int rowBytes() {
        return Math.toIntExact((long) heads * headSize * elementType.bytes());
    }

    /** Returns the bytes of one token over all planes and layers. */
    public int bytesPerToken() {
        return Math.toIntExact(bytesPerToken(format, elementType, layers, heads, headSize));
    }

    /**
     * Returns the bytes of an object of so many tokens.
     *
     * @throws IllegalArgumentException if {@code tokens} is below 1
     */
    public long objectBytes(int tokens) {
        requirePositive("tokens", tokens);
        return (long) bytesPerToken() * tokens;
    }

    /**
     * Returns where a layer's plane begins in an object of so many tokens, in bytes.
     *
     * @throws IndexOutOfBoundsException if there is no such plane or layer
     */
    public long planeOffset(int plane, int layer, int tokens) {
        Objects.checkIndex(plane, planes());
        Objects.checkIndex(layer, layers);
        return ((long) plane * layers + layer) * tokens * rowBytes();
    }

    @Override
    public String toString() {
        return format + ":" + elementType + ":layers=" + layers + ":heads=" + heads + ":headSize=" + headSize
                + (groups == 1 ? "" : ":groups=" + groups);
    }

    private static long bytesPerToken(KvFormat format, ElementType type, int layers, int heads, int headSize) {
        try {
            long row = Math.multiplyExact((long) heads * headSize, (long) type.bytes());
            return Math.multiplyExact(row, (long) layers * format.planes());
        } catch (ArithmeticException overflow) {
            return Long.MAX_VALUE;
        }
    }

    private static void requirePositive(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " must be at least 1, got " + value);
        }
    }
}
