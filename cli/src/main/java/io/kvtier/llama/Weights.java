package io.kvtier.llama;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/**
 * The weights of a model in a llama2.c checkpoint file (version 0): little endian, a header of 7 int32, then the
 * matrices in float32, row-major as {@code [out][in]}, layer after layer inside each array. A negative vocabulary in
 * the header says that an output matrix of its own follows at the end. Immutable, so shareable between decoders.
 *
 * @see <a href="https://github.com/karpathy/llama2.c">llama2.c</a>
 */
public final class Weights {
    private static final int HEADER_BYTES = 7 * Integer.BYTES;

    private final ModelConfig config;
    private final String revision;

    /** {@code [vocabulary][dim]}. */
    final float[] embedding;
    /** Per layer {@code [dim]}. */
    final float[][] attentionNorm;
    /** Per layer {@code [dim][dim]}. */
    final float[][] query;
    /** Per layer {@code [kvDim][dim]}. */
    final float[][] key;
    /** Per layer {@code [kvDim][dim]}. */
    final float[][] value;
    /** Per layer {@code [dim][dim]}. */
    final float[][] attentionOutput;
    /** Per layer {@code [dim]}. */
    final float[][] feedForwardNorm;
    /** Per layer {@code [hiddenDim][dim]}. */
    final float[][] gate;
    /** Per layer {@code [dim][hiddenDim]}. */
    final float[][] down;
    /** Per layer {@code [hiddenDim][dim]}. */
    final float[][] up;
    /** {@code [dim]}. */
    final float[] lastNorm;
    /** {@code [vocabulary][dim]}. */
    final float[] output;

    private Weights(ModelConfig config, ModelFile file) throws IOException {
        this.config = config;
        int dim = config.dim();
        int layers = config.layers();
        embedding = file.readFloats(config.vocabulary() * dim);
        attentionNorm = readLayers(file, layers, dim);
        query = readLayers(file, layers, dim * dim);
        key = readLayers(file, layers, config.kvDim() * dim);
        value = readLayers(file, layers, config.kvDim() * dim);
        attentionOutput = readLayers(file, layers, dim * dim);
        feedForwardNorm = readLayers(file, layers, dim);
        gate = readLayers(file, layers, config.hiddenDim() * dim);
        down = readLayers(file, layers, config.hiddenDim() * dim);
        up = readLayers(file, layers, config.hiddenDim() * dim);
        lastNorm = file.readFloats(dim);
        if (config.sharedEmbedding()) {
            output = embedding;
        } else {
            // Rotation tables of older versions of the format: the rotation is computed instead.
            file.skipFloats(rotationFloats(config));
            output = file.readFloats(config.vocabulary() * dim);
        }
        revision = file.digest();
    }

    /**
     * Reads a checkpoint file.
     *
     * @throws ModelFileException if the header is impossible or the file is not exactly as long as the header asks for
     * @throws IOException if the file cannot be read
     */
    public static Weights read(Path path) throws IOException {
        try (ModelFile file = ModelFile.open(path)) {
            return read(file);
        }
    }

    /** Reads the stories260K checkpoint that is part of this package. */
    public static Weights bundled() {
        try (ModelFile file = ModelFile.bundled("stories260K.bin")) {
            return read(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the dimensions. */
    public ModelConfig config() {
        return config;
    }

    /** Returns a text that differs wherever weights differ: the beginning of a hash of them. */
    public String revision() {
        return revision;
    }

    private static Weights read(ModelFile file) throws IOException {
        ModelConfig config = readHeader(file);
        long expected = fileBytes(config);
        if (file.size() != expected) {
            throw new ModelFileException(
                    file.name(), "must have " + expected + " bytes by its header " + config + ", has " + file.size());
        }
        return new Weights(config, file);
    }

    private static ModelConfig readHeader(ModelFile file) throws IOException {
        file.requireRemaining(HEADER_BYTES);
        int dim = file.readInt();
        int hiddenDim = file.readInt();
        int layers = file.readInt();
        int heads = file.readInt();
        int kvHeads = file.readInt();
        int vocabulary = file.readInt();
        int maxTokens = file.readInt();
        try {
            return new ModelConfig(
                    dim, hiddenDim, layers, heads, kvHeads, Math.abs(vocabulary), maxTokens, vocabulary > 0);
        } catch (IllegalArgumentException e) {
            throw new ModelFileException(file.name(), e);
        }
    }

    private static long fileBytes(ModelConfig config) {
        long dim = config.dim();
        long attention = 2 * dim * dim + 2 * dim * config.kvDim();
        long feedForward = 3 * dim * config.hiddenDim();
        long embeddings = config.vocabulary() * dim * (config.sharedEmbedding() ? 1 : 2);
        long floats = embeddings + config.layers() * (2 * dim + attention + feedForward) + dim + rotationFloats(config);
        return HEADER_BYTES + floats * Float.BYTES;
    }

    private static long rotationFloats(ModelConfig config) {
        return (long) config.maxTokens() * config.headSize();
    }

    private static float[][] readLayers(ModelFile file, int layers, int floats) throws IOException {
        float[][] matrices = new float[layers][];
        for (int layer = 0; layer < layers; layer++) {
            matrices[layer] = file.readFloats(floats);
        }
        return matrices;
    }
}
