package io.kvtier.token;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Objects;

/**
 * Cuts token ids into chunks and hashes each chunk chained to its prefix: {@code h[i] = SHA-256(h[i-1] || tokens of
 * chunk i)}, tokens as 32-bit little-endian numbers, {@code h[-1] = SHA-256("kvtier:chunk:sha256-chain-1")}. Two chunks
 * have equal hashes if and only if (but for collisions of SHA-256) they and all tokens before them are equal. Tokens
 * after the last full chunk are left out. docs/hashing.md holds test vectors.
 *
 * <p>Hashing allocates nothing. An instance is for one thread at a time.
 */
public final class ChunkHasher {
    /** Name of the scheme, as it stands in identities. */
    public static final String SCHEME = "sha256-chain-1";

    /** Bytes of a hash. */
    public static final int HASH_BYTES = 32;

    private static final VarHandle LITTLE_ENDIAN_INTS =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final byte[] ROOT = root();

    private final int chunkTokens;
    private final MessageDigest sha256 = sha256();
    private final byte[] encoded;

    /**
     * Creates a hasher.
     *
     * @param chunkTokens tokens per chunk, from 1 to 2^20
     * @throws IllegalArgumentException if it is out of range
     */
    public ChunkHasher(int chunkTokens) {
        if (chunkTokens < 1 || chunkTokens > 1 << 20) {
            throw new IllegalArgumentException("chunkTokens must be from 1 to " + (1 << 20) + ", got " + chunkTokens);
        }
        this.chunkTokens = chunkTokens;
        this.encoded = new byte[chunkTokens * Integer.BYTES];
    }

    /** Returns the tokens per chunk. */
    public int chunkTokens() {
        return chunkTokens;
    }

    /** Returns the number of full chunks in so many tokens. */
    public int chunks(int tokens) {
        return tokens / chunkTokens;
    }

    /**
     * Hashes the full chunks of a prompt from a chunk on; those before it must already stand in {@code hashes}, which is
     * how a prompt that grew is hashed without starting again.
     *
     * @param tokens token ids, none negative
     * @param length number of ids that count
     * @param fromChunk first chunk to hash
     * @param hashes holds hash {@code i} at byte {@code 32 * i}
     * @return the number of full chunks in the prompt
     * @throws IllegalArgumentException if a token id is negative; {@code hashes} before it are written
     * @throws IndexOutOfBoundsException if an array is too short, or {@code fromChunk} past the end
     */
    public int hash(int[] tokens, int length, int fromChunk, byte[] hashes) {
        Objects.checkFromIndexSize(0, length, tokens.length);
        int chunks = chunks(length);
        Objects.checkFromToIndex(fromChunk, chunks, chunks);
        Objects.checkFromIndexSize(0, chunks * HASH_BYTES, hashes.length);
        for (int chunk = fromChunk; chunk < chunks; chunk++) {
            encode(tokens, chunk * chunkTokens);
            hashChunk(chunk, hashes);
        }
        for (int i = chunks * chunkTokens; i < length; i++) {
            requireValid(tokens[i], i);
        }
        return chunks;
    }

    private void encode(int[] tokens, int from) {
        for (int i = 0; i < chunkTokens; i++) {
            int token = tokens[from + i];
            requireValid(token, from + i);
            LITTLE_ENDIAN_INTS.set(encoded, i * Integer.BYTES, token);
        }
    }

    private static void requireValid(int token, int position) {
        if (token < 0) {
            throw new IllegalArgumentException("token id " + token + " at position " + position
                    + " is negative; hash scheme " + SCHEME + " carries ids from 0 to " + Integer.MAX_VALUE);
        }
    }

    private void hashChunk(int chunk, byte[] hashes) {
        if (chunk == 0) {
            sha256.update(ROOT, 0, HASH_BYTES);
        } else {
            sha256.update(hashes, (chunk - 1) * HASH_BYTES, HASH_BYTES);
        }
        sha256.update(encoded, 0, encoded.length);
        try {
            int written = sha256.digest(hashes, chunk * HASH_BYTES, HASH_BYTES);
            assert written == HASH_BYTES;
        } catch (DigestException e) {
            throw new IllegalStateException("SHA-256 refused a buffer of 32 bytes", e);
        }
    }

    private static byte[] root() {
        return sha256().digest(("kvtier:chunk:" + SCHEME).getBytes(StandardCharsets.US_ASCII));
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform must provide SHA-256", e);
        }
    }
}
