package io.kvtier.layout;

/** How the planes of a token's KV are arranged in an object. Codes are part of the record format and never change. */
public enum KvFormat {
    /** Keys and values apart (MHA, GQA): {@code [2, layers, tokens, heads * headSize]}. */
    KEY_VALUE(1, 2, "kv"),
    /** One latent vector per token and layer (MLA): {@code [1, layers, tokens, headSize]}. */
    LATENT(2, 1, "mla"),
    /** Bytes without a shape that kvtier knows: {@code [1, layers, tokens, heads * headSize]}. */
    OPAQUE(3, 1, "opaque");

    private final int code;
    private final int planes;
    private final String text;

    KvFormat(int code, int planes, String text) {
        this.code = code;
        this.planes = planes;
        this.text = text;
    }

    /** Returns the number that stands for this format in stored records. */
    public int code() {
        return code;
    }

    /** Returns the number of planes: 2 where keys and values are apart, else 1. */
    public int planes() {
        return planes;
    }

    @Override
    public String toString() {
        return text;
    }

    /**
     * Returns the format with a code.
     *
     * @throws IllegalArgumentException if no format has it
     */
    public static KvFormat ofCode(int code) {
        for (KvFormat format : values()) {
            if (format.code == code) {
                return format;
            }
        }
        throw new IllegalArgumentException("KV format code " + code + " is unknown");
    }
}
