package io.kvtier.bindings.nixl;

import java.util.Objects;

/** Names as C knows them. */
final class Names {
    private Names() {}

    /** Returns the value, unless native code would see another one. */
    static String require(String what, String value) {
        Objects.requireNonNull(value, what);
        if (value.isEmpty() || value.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(what + " must not be empty or contain a NUL");
        }
        return value;
    }
}
