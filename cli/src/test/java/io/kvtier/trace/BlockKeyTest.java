package io.kvtier.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockKeyTest {
    private static final TraceReader.Options DEFAULTS = TraceReader.Options.defaults();

    @TempDir
    Path folder;

    /** Works out a key from the parts that are hashed: a long as it is, bytes and text with their length before. */
    private static byte[] sha256(Object... parts) throws IOException, NoSuchAlgorithmException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (Object part : parts) {
            if (part instanceof Long id) {
                out.writeLong(id);
            } else {
                byte[] raw = part instanceof String s ? s.getBytes(StandardCharsets.UTF_8) : (byte[]) part;
                out.writeInt(raw.length);
                out.write(raw);
            }
        }
        return MessageDigest.getInstance("SHA-256").digest(bytes.toByteArray());
    }

    private static String hex(Object... parts) throws IOException, NoSuchAlgorithmException {
        return HexFormat.of().formatHex(sha256(parts));
    }

    @Test
    void mooncake() throws Exception {
        Trace trace = mooncake("m", "[5, 18446744073709551615]", DEFAULTS);
        assertThat(TraceModel.keys(trace))
                .containsExactly(
                        hex("kvtier trace block v1", "mooncake", 5L), hex("kvtier trace block v1", "mooncake", -1L));
    }

    @Test
    void claudeCode() throws Exception {
        Path file = Fixtures.write(folder.resolve("c"), """
                {"id": "s\u00e9", "block_size": 2, "requests": \
                [{"t": 0, "type": "n", "in": 2, "out": 1, "hash_ids": [5]}]}
                """, true);
        assertThat(TraceModel.keys(TraceReader.read(file, DEFAULTS)))
                .containsExactly(hex("kvtier trace block v1", "claude-code", "s\u00e9", 5L));
    }

    @Test
    void ragPulse() throws Exception {
        for (PieceKind kind : PieceKind.values()) {
            Files.writeString(folder.resolve(kind.fileName), "{\"" + kind.idField + "\": 7, \"token_length\": 3}");
        }
        Files.writeString(folder.resolve("0_trace.jsonl"), """
                {"timestamp": "5", "input_length": 9, "output_length": 1, "hash_ids": {"sys_prompt": [7], \
                "passages_ids": [], "history": [], "web_search": [], "user_input": [7]}}
                """);
        String domain = "kvtier trace block v1";
        byte[] first = sha256(domain, "ragpulse", new byte[0], "sys_prompt", 7L);
        assertThat(TraceModel.keys(TraceReader.read(folder, DEFAULTS)))
                .containsExactly(HexFormat.of().formatHex(first), hex(domain, "ragpulse", first, "user_input", 7L));
    }

    @Test
    void dependsNeitherOnTheFileNorOnTheBlockSize() throws IOException {
        Trace small = mooncake("a", "[9, 3]", DEFAULTS.withBlockTokens(16));
        Trace large = mooncake("b", "[3, 9]", DEFAULTS.withBlockTokens(4096));
        assertThat(TraceModel.key(small, 0)).isEqualTo(TraceModel.key(large, 1));
        assertThat(TraceModel.key(small, 1)).isEqualTo(TraceModel.key(large, 0));
    }

    @Test
    void rangesAreChecked() throws IOException {
        Trace trace = mooncake("a", "[9, 3]", DEFAULTS);
        assertOutOfBounds(() -> trace.copyKey(2, new byte[32], 0));
        assertOutOfBounds(() -> trace.copyKey(-1, new byte[32], 0));
        assertOutOfBounds(() -> trace.copyKey(0, new byte[32], 1));
        assertOutOfBounds(() -> assertThat(trace.block(0, 2)).isZero());
        assertOutOfBounds(() -> assertThat(trace.block(1, 0)).isZero());
        assertOutOfBounds(() -> assertThat(trace.blocks(1)).isZero());
        assertOutOfBounds(() -> assertThat(trace.inputLength(-1)).isZero());
        assertOutOfBounds(() -> assertThat(trace.hitTokens(0, 3)).isZero());
        assertOutOfBounds(() -> assertThat(trace.hitTokens(0, -1)).isZero());
    }

    private static void assertOutOfBounds(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IndexOutOfBoundsException.class);
    }

    private Trace mooncake(String name, String ids, TraceReader.Options options) throws IOException {
        String line = "{\"timestamp\": 0, \"input_length\": 9, \"output_length\": 1, \"hash_ids\": " + ids + "}";
        return TraceReader.read(Fixtures.write(folder.resolve(name), line, false), options);
    }
}
