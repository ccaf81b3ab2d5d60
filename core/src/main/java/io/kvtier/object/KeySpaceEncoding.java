package io.kvtier.object;

import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvFormat;
import io.kvtier.layout.KvLayout;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The bytes of a key space, as they stand in record headers and file names (docs/format.md, "Key"). Equal key spaces
 * have equal bytes, unequal ones unequal bytes.
 */
public final class KeySpaceEncoding {
    /** Most bytes that an encoded key space has. */
    public static final int MAX_BYTES = KeySpace.MAX_TEXT_BYTES + 512;

    private static final byte VERSION = 1;

    private KeySpaceEncoding() {}

    /** Returns the bytes of a key space. */
    public static byte[] encode(KeySpace space) {
        ByteBuffer out = ByteBuffer.allocate(MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        CacheIdentity identity = space.identity();
        KvLayout layout = identity.layout();
        out.put(VERSION).put((byte) layout.format().code()).put((byte)
                layout.elementType().code());
        out.put((byte) identity.hashBytes());
        out.putInt(layout.layers()).putInt(layout.heads()).putInt(layout.headSize());
        out.putInt(layout.groups()).putInt(identity.chunkTokens()).putInt(identity.worldSize());
        out.putInt(space.rank()).putInt(space.objectGroup()).putInt(space.layer());
        putText(out, identity.modelName());
        putText(out, identity.modelRevision());
        putText(out, identity.adapterName());
        putText(out, identity.hashScheme());
        putText(out, space.salt());
        out.putShort((short) space.tags().size());
        space.tags().forEach((name, value) -> {
            putText(out, name);
            putText(out, value);
        });
        byte[] bytes = new byte[out.position()];
        out.flip().get(bytes);
        return bytes;
    }

    /** Returns the key space that has these bytes, or empty if no key space has. */
    public static Optional<KeySpace> decode(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        try {
            KeySpace space = in.get() == VERSION ? decodeFields(in) : null;
            boolean exact = space != null && Arrays.equals(encode(space), bytes);
            return exact ? Optional.ofNullable(space) : Optional.empty();
        } catch (BufferUnderflowException | IllegalArgumentException | CharacterCodingException e) {
            return Optional.empty();
        }
    }

    private static KeySpace decodeFields(ByteBuffer in) throws CharacterCodingException {
        KvFormat format = KvFormat.ofCode(in.get());
        ElementType type = ElementType.ofCode(in.get());
        int hashBytes = in.get();
        KvLayout layout = new KvLayout(format, type, in.getInt(), in.getInt(), in.getInt(), in.getInt());
        int chunkTokens = in.getInt();
        int worldSize = in.getInt();
        int rank = in.getInt();
        int objectGroup = in.getInt();
        int layer = in.getInt();
        CacheIdentity identity = new CacheIdentity(
                getText(in), getText(in), getText(in), getText(in), hashBytes, chunkTokens, layout, worldSize);
        return new KeySpace(identity, rank, objectGroup, layer, getText(in), getTags(in));
    }

    private static Map<String, String> getTags(ByteBuffer in) throws CharacterCodingException {
        int count = Short.toUnsignedInt(in.getShort());
        Map<String, String> tags = new HashMap<>();
        for (int i = 0; i < count; i++) {
            tags.put(getText(in), getText(in));
        }
        return tags;
    }

    private static void putText(ByteBuffer out, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        out.putShort((short) utf8.length).put(utf8);
    }

    private static String getText(ByteBuffer in) throws CharacterCodingException {
        int length = Short.toUnsignedInt(in.getShort());
        if (length > in.remaining()) {
            throw new BufferUnderflowException();
        }
        String text = StandardCharsets.UTF_8
                .newDecoder()
                .decode(in.slice(in.position(), length))
                .toString();
        in.position(in.position() + length);
        return text;
    }
}
