package io.kvtier.layout;

/** The number format of one KV element. Codes are part of the record format and never change. */
public enum ElementType {
    /** IEEE 754 binary32. */
    F32(1, 4, "f32"),
    /** IEEE 754 binary16. */
    F16(2, 2, "f16"),
    /** bfloat16: the upper half of a binary32. */
    BF16(3, 2, "bf16"),
    /** 8-bit float with 4 exponent bits, finite only. */
    F8_E4M3(4, 1, "f8_e4m3"),
    /** 8-bit float with 5 exponent bits. */
    F8_E5M2(5, 1, "f8_e5m2"),
    /** Signed byte. */
    I8(6, 1, "i8"),
    /** Unsigned byte, also plain bytes. */
    U8(7, 1, "u8");

    private final int code;
    private final int bytes;
    private final String text;

    ElementType(int code, int bytes, String text) {
        this.code = code;
        this.bytes = bytes;
        this.text = text;
    }

    /** Returns the number that stands for this type in stored records. */
    public int code() {
        return code;
    }

    /** Returns the size of one element in bytes. */
    public int bytes() {
        return bytes;
    }

    @Override
    public String toString() {
        return text;
    }

    /**
     * Returns the type with a code.
     *
     * @throws IllegalArgumentException if no type has it
     */
    public static ElementType ofCode(int code) {
        for (ElementType type : values()) {
            if (type.code == code) {
                return type;
            }
        }
        throw new IllegalArgumentException("element type code " + code + " is unknown");
    }
}
