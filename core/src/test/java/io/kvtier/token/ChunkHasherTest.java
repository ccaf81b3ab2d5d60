package io.kvtier.token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkHasherTest {
    /** Computed by another program (Python's hashlib); docs/hashing.md lists them. */
    @ParameterizedTest
    @CsvSource({
        "4, 1, 8, b5b23bbbfe468337d2d5e83651b24d65a1ec122c59b849f4c09e523548b6ef8c,"
                + " 9ad45db01b78f57341785b0489ec464f6b13e22c25e693d98e5dec01f6549121",
        "16, 0, 31, 93ae17566600517e5becf1876041bbf8398a8fbcee6cbeca8cf2ea491ff356d8,"
                + " 02980c60f578e533f2d89dbc7d5eae05b34470ca9dae2b11b9dba4ea91df95e9",
        "256, 0, 511, 796aca6788c9bcf7f314a801f2c9d53607062c930d431bed65fbccbe11deb606,"
                + " 90d7f88da745c5d7d91b75c4be9a8443aab8dbce524ab7f5a40e243d17b931f3"
    })
    void publishedVectors(int chunkTokens, int firstToken, int lastToken, String first, String second) {
        int[] tokens = IntStream.rangeClosed(firstToken, lastToken).toArray();
        byte[] hashes = hash(chunkTokens, tokens);
        assertThat(HexFormat.of().formatHex(hashes)).isEqualTo(first + second);
    }

    @Test
    void publishedVectorOfTheLargestAndTheSmallestId() {
        byte[] hashes = hash(1, new int[] {Integer.MAX_VALUE, 0});
        assertThat(HexFormat.of().formatHex(hashes))
                .isEqualTo("25f4088a9b4265176e273894c8d924be639ee5b8bf0a940357f506cf21865b6a"
                        + "3d9b31d83beabf9cf71e81caf0b8518c39f28a2b2c15c70f53331e0dc6f5b335");
    }

    @Test
    void publishedVectorOfTheEmptyPrefix() {
        String root = "cdd0b00bbe6f90e00add799ce2232a91bd41fd2efde2c27fe71cf2d35731f537";
        assertThat(HexFormat.of().formatHex(sha256("kvtier:chunk:sha256-chain-1".getBytes(StandardCharsets.US_ASCII))))
                .isEqualTo(root);
        byte[] chunk = Arrays.copyOf(HexFormat.of().parseHex(root), 36);
        chunk[32] = 5;
        assertThat(hash(1, new int[] {5})).isEqualTo(sha256(chunk));
    }

    @Property(tries = 50, shrinking = ShrinkingMode.OFF)
    void isSha256OverThePreviousHashAndTheTokens(
            @ForAll @IntRange(min = 1, max = 40) int chunkTokens, @ForAll long seed) {
        int[] tokens = tokens(new Random(seed), 100);
        assertThat(hash(chunkTokens, tokens)).isEqualTo(plainHash(chunkTokens, tokens));
    }

    @Property(tries = 50, shrinking = ShrinkingMode.OFF)
    void extendingGivesTheSameAsHashingTheWhole(@ForAll @IntRange(min = 1, max = 9) int c, @ForAll long seed) {
        Random random = new Random(seed);
        int[] tokens = tokens(random, 90);
        byte[] whole = hash(c, tokens);
        byte[] extended = new byte[whole.length];
        ChunkHasher hasher = new ChunkHasher(c);
        int done = 0;
        for (int length = 0; length < tokens.length; length = Math.min(90, length + 1 + random.nextInt(20))) {
            done = hasher.hash(tokens, length, done, extended);
        }
        hasher.hash(tokens, tokens.length, done, extended);
        assertThat(extended).isEqualTo(whole);
    }

    @Property(tries = 50, shrinking = ShrinkingMode.OFF)
    void hashesAreEqualJustAsFarAsThePrefixIs(@ForAll @IntRange(min = 1, max = 9) int c, @ForAll long seed) {
        Random random = new Random(seed);
        int[] a = tokens(random, 60);
        int[] b = a.clone();
        int changed = random.nextInt(60);
        b[changed] ^= 1 << random.nextInt(31);
        byte[] hashesOfA = hash(c, a);
        byte[] hashesOfB = hash(c, b);
        for (int chunk = 0; chunk < 60 / c; chunk++) {
            boolean equal =
                    Arrays.equals(hashesOfA, chunk * 32, chunk * 32 + 32, hashesOfB, chunk * 32, chunk * 32 + 32);
            assertThat(equal).as("chunk " + chunk).isEqualTo(chunk < changed / c);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 0", "7, 0", "8, 1", "9, 1", "15, 1", "16, 2", "17, 2"})
    void onlyFullChunksAreHashed(int length, int chunks) {
        ChunkHasher hasher = new ChunkHasher(8);
        byte[] hashes = new byte[96];
        assertThat(hasher.chunks(length)).isEqualTo(chunks);
        assertThat(hasher.hash(new int[20], length, 0, hashes)).isEqualTo(chunks);
        byte[] whole = plainHash(8, new int[16]);
        byte[] expected = Arrays.copyOf(Arrays.copyOf(whole, chunks * 32), 96);
        assertThat(hashes).isEqualTo(expected);
    }

    @Test
    void negativeIdsAreRefusedByPositionAndTheNextPromptIsUnharmed() {
        ChunkHasher hasher = new ChunkHasher(2);
        byte[] hashes = new byte[64];
        assertThatIllegalArgumentException()
                .isThrownBy(() -> hasher.hash(new int[] {1, 2, 3, -7}, 4, 0, hashes))
                .withMessageContaining("-7")
                .withMessageContaining("position 3");
        int[] tokens = {Integer.MAX_VALUE, 0, 1, 2};
        hasher.hash(tokens, 4, 0, hashes);
        assertThat(hashes).isEqualTo(plainHash(2, tokens));
    }

    @Test
    void negativeIdInTheUnfinishedChunkIsRefusedAndPastTheLengthDoesNotCount() {
        ChunkHasher hasher = new ChunkHasher(2);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> hasher.hash(new int[] {1, 2, -1}, 3, 0, new byte[32]))
                .withMessageContaining("position 2");
        assertThat(hasher.hash(new int[] {1, 2, -1}, 2, 0, new byte[32])).isEqualTo(1);
    }

    @Test
    void arraysThatAreTooShortAreRefused() {
        ChunkHasher hasher = new ChunkHasher(2);
        assertThatThrownBy(() -> hasher.hash(new int[3], 4, 0, new byte[64]))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> hasher.hash(new int[4], 4, 0, new byte[63]))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> hasher.hash(new int[4], 4, 3, new byte[64]))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> hasher.hash(new int[4], -1, 0, new byte[64]))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, (1 << 20) + 1, Integer.MAX_VALUE})
    void chunkSizesOutOfRangeAreRefused(int chunkTokens) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ChunkHasher(chunkTokens))
                .withMessageContaining("got " + chunkTokens);
    }

    private static int[] tokens(Random random, int count) {
        return random.ints(count, 0, Integer.MAX_VALUE).toArray();
    }

    private static byte[] hash(int chunkTokens, int[] tokens) {
        byte[] hashes = new byte[tokens.length / chunkTokens * 32];
        new ChunkHasher(chunkTokens).hash(tokens, tokens.length, 0, hashes);
        return hashes;
    }

    private static byte[] plainHash(int chunkTokens, int[] tokens) {
        ByteBuffer hashes = ByteBuffer.allocate(tokens.length / chunkTokens * 32);
        byte[] hash = sha256("kvtier:chunk:sha256-chain-1".getBytes(StandardCharsets.US_ASCII));
        for (int chunk = 0; chunk < tokens.length / chunkTokens; chunk++) {
            ByteBuffer input = ByteBuffer.allocate(32 + 4 * chunkTokens).order(ByteOrder.LITTLE_ENDIAN);
            input.put(hash);
            Arrays.stream(tokens, chunk * chunkTokens, (chunk + 1) * chunkTokens)
                    .forEach(input::putInt);
            hash = sha256(input.array());
            hashes.put(hash);
        }
        return hashes.array();
    }

    private static byte[] sha256(byte[] input) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(input);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
