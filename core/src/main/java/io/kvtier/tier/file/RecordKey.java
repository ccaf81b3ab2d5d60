package io.kvtier.tier.file;

import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/** An object key as bytes: the encoded key space, and the chunk hash in 32 bytes. */
final class RecordKey {
    private static final HexFormat HEX = HexFormat.of();

    private final byte[] keySpace;
    private final byte[] chunkHash;

    /** Takes the arrays over; nobody changes them from now on. */
    RecordKey(byte[] keySpace, byte[] chunkHash) {
        this.keySpace = keySpace;
        this.chunkHash = chunkHash;
    }

    byte[] keySpace() {
        return keySpace;
    }

    byte[] chunkHash() {
        return chunkHash;
    }

    /** Returns the file of the key's record: its name is SHA-256 over key space and chunk hash, in hexadecimal. */
    Path path(Path objects) {
        MessageDigest sha256 = sha256();
        sha256.update(keySpace);
        String name = HEX.formatHex(sha256.digest(chunkHash));
        return objects.resolve(name.substring(0, 2)).resolve(name + RecordFiles.SUFFIX);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RecordKey key
                && Arrays.equals(keySpace, key.keySpace)
                && Arrays.equals(chunkHash, key.chunkHash);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(keySpace) + Arrays.hashCode(chunkHash);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform must provide SHA-256", e);
        }
    }
}
