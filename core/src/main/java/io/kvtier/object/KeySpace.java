package io.kvtier.object;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * All parts of an object key but the chunk hash: objects of one key space differ in their chunk hash alone. Equality is
 * over all fields; the order in which tags are given does not matter.
 *
 * @param identity the engine configuration
 * @param rank rank that holds the KV, from 0 to {@code worldSize - 1}
 * @param objectGroup group of layers, from 0 to {@code groups - 1}
 * @param layer the one layer that an object holds, or {@link #ALL_LAYERS}
 * @param salt the tenant; empty where there is one only
 * @param tags further parts of the identity by name
 */
public record KeySpace(
        CacheIdentity identity, int rank, int objectGroup, int layer, String salt, Map<String, String> tags) {
    /** Value of {@code layer} for objects that hold all layers of their group. */
    public static final int ALL_LAYERS = -1;

    /** Most UTF-8 bytes that all names, the salt and the tags may have together: they must fit a record's header. */
    public static final int MAX_TEXT_BYTES = 3072;

    /** Most tags of a key. */
    public static final int MAX_TAGS = 64;

    /**
     * Checks the fields and copies the tags.
     *
     * @throws IllegalArgumentException if a number is out of range, a text has a lone surrogate or a NUL, a tag has no
     *     name, or there is too much of it for a record's header
     */
    public KeySpace {
        Objects.requireNonNull(identity, "identity");
        Objects.requireNonNull(salt, "salt");
        requireBelow("rank", rank, identity.worldSize(), "worldSize");
        requireBelow("objectGroup", objectGroup, identity.layout().groups(), "groups");
        if (layer != ALL_LAYERS) {
            requireBelow("layer", layer, identity.layout().layers(), "layers");
        }
        // Before they are sorted: what is no valid text must not pass for another.
        requireTextFits(identity, salt, tags);
        tags = canonical(tags);
    }

    /** Returns the key space of whole objects of the only group. */
    public static KeySpace of(CacheIdentity identity, int rank, String salt) {
        return new KeySpace(identity, rank, 0, ALL_LAYERS, salt, Map.of());
    }

    /** Returns the bytes of a full chunk's object in this key space. */
    public long objectBytes() {
        return layer == ALL_LAYERS
                ? identity.objectBytes()
                : identity.objectBytes() / identity.layout().layers();
    }

    private static SortedMap<String, String> canonical(Map<String, String> tags) {
        TreeMap<String, String> sorted = new TreeMap<>(KeySpace::compareUtf8);
        sorted.putAll(tags);
        if (sorted.size() > MAX_TAGS) {
            throw new IllegalArgumentException("a key has at most " + MAX_TAGS + " tags, got " + sorted.size());
        }
        if (sorted.containsKey("")) {
            throw new IllegalArgumentException("a tag needs a name, got an empty one with value " + sorted.get(""));
        }
        return Collections.unmodifiableSortedMap(sorted);
    }

    private static int compareUtf8(String a, String b) {
        return Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
    }

    private static void requireTextFits(CacheIdentity identity, String salt, Map<String, String> tags) {
        int bytes = utf8("modelName", identity.modelName())
                + utf8("modelRevision", identity.modelRevision())
                + utf8("adapterName", identity.adapterName())
                + utf8("hashScheme", identity.hashScheme())
                + utf8("salt", salt);
        for (Map.Entry<String, String> tag : tags.entrySet()) {
            bytes += utf8("tag name", tag.getKey()) + utf8("tag " + tag.getKey(), tag.getValue());
        }
        if (bytes > MAX_TEXT_BYTES) {
            throw new IllegalArgumentException("names, salt and tags of a key may have " + MAX_TEXT_BYTES
                    + " UTF-8 bytes together, got " + bytes + " (model name "
                    + identity.modelName().length() + " characters, salt " + salt.length() + ", " + tags.size()
                    + " tags)");
        }
    }

    private static int utf8(String name, String text) {
        if (text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(name + " must not contain a NUL character");
        }
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            return encoded.remaining();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(name + " is no valid Unicode text: it has a lone surrogate", e);
        }
    }

    private static void requireBelow(String name, int value, int bound, String boundName) {
        if (value < 0 || value >= bound) {
            throw new IllegalArgumentException(
                    name + " must be from 0 to " + boundName + " - 1 = " + (bound - 1) + ", got " + value);
        }
    }
}
