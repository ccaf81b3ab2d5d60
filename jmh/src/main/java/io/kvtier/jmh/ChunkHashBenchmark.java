package io.kvtier.jmh;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.kvtier.token.ChunkHasher;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Random;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What hashing a prompt of 64 Ki tokens costs; the anchors compute the same chain of hashes. */
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init")
public class ChunkHashBenchmark {
    static final int TOKENS = 1 << 16;

    private static final int HASH_BYTES = ChunkHasher.HASH_BYTES;
    private static final ValueLayout.OfInt LITTLE_ENDIAN =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @Param({"16", "256"})
    int chunkTokens;

    private ChunkHasher hasher;
    private int[] tokens;
    private byte[] hashes;
    private byte[] root;
    private Arena arena;
    private MemorySegment context;
    // Root hash, tokens of chunk 0, its hash, tokens of chunk 1, its hash...: OpenSSL hashes without a copy.
    private MemorySegment interleaved;

    /** Makes a prompt and lays it out for each. */
    @Setup
    @SuppressWarnings("MustBeClosedChecker")
    public void open() throws NoSuchAlgorithmException {
        hasher = new ChunkHasher(chunkTokens);
        tokens = new Random(1).ints(TOKENS, 0, 150_000).toArray();
        hashes = new byte[chunks() * HASH_BYTES];
        root = MessageDigest.getInstance("SHA-256").digest(("kvtier:chunk:" + ChunkHasher.SCHEME).getBytes(US_ASCII));
        arena = Arena.ofShared();
        context = arena.allocate(OpenSslNative.CONTEXT_BYTES, 64);
        interleaved = arena.allocate(HASH_BYTES + chunks() * stride(), 64);
        MemorySegment.copy(root, 0, interleaved, ValueLayout.JAVA_BYTE, 0, HASH_BYTES);
        for (int i = 0; i < TOKENS; i++) {
            long at = HASH_BYTES + i / chunkTokens * stride() + (long) (i % chunkTokens) * Integer.BYTES;
            interleaved.set(LITTLE_ENDIAN, at, tokens[i]);
        }
    }

    /** Frees the memory. */
    @TearDown
    public void close() {
        arena.close();
    }

    @Benchmark
    public byte[] kvtier() {
        hasher.hash(tokens, TOKENS, 0, hashes);
        return hashes;
    }

    @Benchmark
    public MemorySegment openSsl() {
        long contextAddress = context.address();
        long at = interleaved.address();
        long stride = stride();
        for (int chunk = 0; chunk < chunks(); chunk++) {
            OpenSslNative.sha256(contextAddress, at, stride, at + stride);
            at += stride;
        }
        return interleaved;
    }

    @Benchmark
    public byte[] messageDigest() throws NoSuchAlgorithmException {
        byte[] previous = root;
        byte[] all = new byte[chunks() * HASH_BYTES];
        for (int chunk = 0; chunk < chunks(); chunk++) {
            ByteBuffer encoded =
                    ByteBuffer.allocate(chunkTokens * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            encoded.asIntBuffer().put(tokens, chunk * chunkTokens, chunkTokens);
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            sha256.update(previous);
            sha256.update(encoded);
            previous = sha256.digest();
            System.arraycopy(previous, 0, all, chunk * HASH_BYTES, HASH_BYTES);
        }
        return all;
    }

    /** Returns the hashes that OpenSSL computed, in the order and form of the others. */
    byte[] openSslHashes() {
        byte[] all = new byte[chunks() * HASH_BYTES];
        for (int chunk = 0; chunk < chunks(); chunk++) {
            MemorySegment.copy(
                    interleaved, ValueLayout.JAVA_BYTE, (chunk + 1) * stride(), all, chunk * HASH_BYTES, HASH_BYTES);
        }
        return all;
    }

    private int chunks() {
        return TOKENS / chunkTokens;
    }

    private long stride() {
        return HASH_BYTES + (long) chunkTokens * Integer.BYTES;
    }
}
