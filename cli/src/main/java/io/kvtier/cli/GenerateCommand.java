package io.kvtier.cli;

import io.kvtier.KvCache;
import io.kvtier.KvCacheConfig;
import io.kvtier.llama.Decoder;
import io.kvtier.llama.Generation;
import io.kvtier.llama.TextStream;
import io.kvtier.llama.Tokenizer;
import io.kvtier.llama.Weights;
import io.kvtier.tier.FileTierConfig;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.core.JsonGenerator;

/** Generates text with the reference engine, which keeps its KV in kvtier. */
@Command(
        name = "generate",
        description = {
            "Generates text with a small Llama model whose KV is kept in kvtier.",
            "Called twice with one prompt, the second run restores the prompt's KV instead of computing it."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        exitCodeListHeading = ExitCodes.HEADING,
        exitCodeList = {ExitCodes.DONE_TEXT, ExitCodes.FAILED_TEXT, ExitCodes.WRONG_INPUT_TEXT, ExitCodes.MISSING_TEXT})
final class GenerateCommand implements Callable<Integer> {
    private static final String DEFAULT_PROMPT =
            "Once upon a time, there was a little girl named Lily. She loved to play outside in the park with her red"
                    + " ball and her dog.";
    private static final int DEFAULT_STEPS = 128;
    private static final long MEMORY_BYTES = 16L << 20;
    private static final long DISK_BYTES = 1L << 30;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = "--prompt", paramLabel = "TEXT", description = "What the story begins with (default: a sentence).")
    private String prompt = DEFAULT_PROMPT;

    @Option(
            names = "--steps",
            paramLabel = "N",
            description = "Tokens to generate, unless the story ends before (default: 128, or as many as there is room"
                    + " for).")
    private @Nullable Integer steps;

    @Option(
            names = "--cache-dir",
            paramLabel = "DIR",
            description = "Folder of the cache (default: kvtier/generate in the user's cache directory).")
    private @Nullable Path cacheDir;

    @Option(names = "--no-cache", description = "Do without a cache.")
    private boolean noCache;

    @Option(
            names = "--chunk-tokens",
            paramLabel = "N",
            defaultValue = "16",
            description = "Tokens per chunk (default: ${DEFAULT-VALUE}).")
    private int chunkTokens;

    @Option(
            names = "--model-name",
            paramLabel = "NAME",
            defaultValue = "stories260k",
            description = "Name of the model in the cache: KV under another name is never restored (default:"
                    + " ${DEFAULT-VALUE}).")
    private String modelName = "stories260k";

    @Option(
            names = "--model",
            paramLabel = "FILE",
            description = "Model in llama2.c's format (default: the bundled stories260K).")
    private @Nullable Path model;

    @Option(
            names = "--tokenizer",
            paramLabel = "FILE",
            description = "Tokenizer in llama2.c's format (default: the bundled tok512).")
    private @Nullable Path tokenizerFile;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    @Override
    public Integer call() throws IOException {
        Weights weights = model == null ? Weights.bundled() : Weights.read(model);
        Tokenizer tokenizer = tokenizerFile == null
                ? Tokenizer.bundled()
                : Tokenizer.read(tokenizerFile, weights.config().vocabulary());
        requireSameVocabulary(weights, tokenizer);
        int[] promptTokens = tokenizer.encode(prompt);
        int room = weights.config().maxTokens() - promptTokens.length + 1;
        int wanted = stepsWithin(room, promptTokens.length, weights.config().maxTokens());
        checkChunkTokens(weights.config().maxTokens());
        if (noCache) {
            generate(new Generation(new Decoder(weights), null), tokenizer, promptTokens, wanted);
            return 0;
        }
        try (KvCache cache = KvCache.open(cacheConfig(weights))) {
            generate(new Generation(new Decoder(weights), cache), tokenizer, promptTokens, wanted);
        }
        return 0;
    }

    private void generate(Generation generation, Tokenizer tokenizer, int[] promptTokens, int wanted) {
        TextStream stream = tokenizer.newTextStream();
        StringBuilder text = new StringBuilder();
        for (int token : promptTokens) {
            print(stream.append(token));
        }
        Generation.Result result = generation.run(promptTokens, wanted, token -> {
            String piece = stream.append(token);
            text.append(piece);
            print(piece);
        });
        String rest = stream.finish();
        text.append(rest);
        print(rest);
        if (json) {
            JsonReport.print(out, generator -> writeFields(result, text.toString(), generator));
        } else {
            summarize(result);
        }
        out.flush();
    }

    private void print(String piece) {
        if (!json) {
            out.print(piece);
            out.flush();
        }
    }

    private void summarize(Generation.Result result) {
        out.printf(
                Locale.ROOT,
                "%n%nprompt tokens    %d%nrestored tokens  %d (memory %d, disk %d)%ncomputed tokens  %d%n"
                        + "generated tokens %d%nfirst token      %.1f ms%n",
                result.promptTokens(),
                result.restoredTokens(),
                result.restoredL1Tokens(),
                result.restoredL2Tokens(),
                result.computedTokens(),
                result.tokens().size(),
                result.firstTokenNanos() / 1e6);
    }

    private void writeFields(Generation.Result result, String text, JsonGenerator generator) {
        generator.writeNumberProperty("prompt_tokens", result.promptTokens());
        generator.writeNumberProperty("restored_tokens", result.restoredTokens());
        generator.writeNumberProperty("restored_l1_tokens", result.restoredL1Tokens());
        generator.writeNumberProperty("restored_l2_tokens", result.restoredL2Tokens());
        generator.writeNumberProperty("computed_tokens", result.computedTokens());
        int[] tokens = result.tokens().stream().mapToInt(Integer::intValue).toArray();
        generator.writeName("tokens").writeArray(tokens, 0, tokens.length);
        generator.writeStringProperty("prompt", prompt);
        generator.writeStringProperty("text", text);
        generator.writeNumberProperty("ttft_ms", result.firstTokenNanos() / 1e6);
    }

    private KvCacheConfig cacheConfig(Weights weights) {
        if (cacheDir != null && cacheDir.toString().isEmpty()) {
            throw new ParameterException(spec.commandLine(), "--cache-dir must name a folder, got an empty text");
        }
        if (modelName.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "--model-name must not be empty");
        }
        return KvCacheConfig.builder(modelName)
                .modelRevision(weights.revision())
                .layout(weights.config().kvLayout())
                .chunkTokens(chunkTokens)
                .memoryBytes(MEMORY_BYTES)
                .tier(FileTierConfig.in(cacheDir == null ? defaultCacheDir() : cacheDir)
                        .withMaxBytes(DISK_BYTES))
                .build();
    }

    private int stepsWithin(int room, int promptLength, int maxTokens) {
        if (room < 1) {
            throw new ParameterException(
                    spec.commandLine(),
                    "the prompt has " + promptLength + " tokens, the model's longest sequence is " + maxTokens);
        }
        int wanted = steps == null ? Math.min(DEFAULT_STEPS, room) : steps;
        if (wanted < 1 || wanted > room) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--steps must be from 1 to " + room + " after a prompt of " + promptLength
                            + " tokens (the model's longest sequence is " + maxTokens + "), got " + wanted);
        }
        return wanted;
    }

    private void checkChunkTokens(int maxTokens) {
        if (chunkTokens < 1 || chunkTokens > maxTokens) {
            throw new ParameterException(
                    spec.commandLine(), "--chunk-tokens must be from 1 to " + maxTokens + ", got " + chunkTokens);
        }
    }

    private void requireSameVocabulary(Weights weights, Tokenizer tokenizer) {
        if (weights.config().vocabulary() != tokenizer.vocabulary()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "the model has a vocabulary of " + weights.config().vocabulary() + " tokens, the tokenizer of "
                            + tokenizer.vocabulary() + "; give both --model and --tokenizer");
        }
    }

    private static Path defaultCacheDir() {
        String home = System.getenv("XDG_CACHE_HOME");
        Path base = home == null || home.isBlank() ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(home);
        return base.resolve("kvtier").resolve("generate");
    }
}
