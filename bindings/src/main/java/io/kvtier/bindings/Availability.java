package io.kvtier.bindings;

import java.util.Objects;

/**
 * Whether a native library can be used here: either where it was found and in which version, or one sentence that says
 * why not. A missing library is a value, never an error at class initialisation.
 */
public sealed interface Availability {

    /** Returns the library's name as users know it, e.g. {@code NIXL}. */
    String library();

    /** Returns whether calls into the library can work. */
    default boolean isAvailable() {
        return this instanceof Present;
    }

    /** Returns the availability of a library that was found. */
    static Availability present(String library, String location, String version) {
        return new Present(library, location, version);
    }

    /** Returns the availability of a library that cannot be used, with a sentence that says why and what to do. */
    static Availability absent(String library, String reason) {
        return new Absent(library, reason);
    }

    /**
     * A library that was found and loaded.
     *
     * @param library the library's name
     * @param location path of the file, or the name under which the system's loader found it
     * @param version the version it reports
     */
    record Present(String library, String location, String version) implements Availability {
        /** Checks that nothing is null. */
        public Present {
            Objects.requireNonNull(library, "library");
            Objects.requireNonNull(location, "location");
            Objects.requireNonNull(version, "version");
        }

        @Override
        public String toString() {
            return library + " " + version + " (" + location + ")";
        }
    }

    /**
     * A library that cannot be used.
     *
     * @param library the library's name
     * @param reason one sentence: what was looked for, what was found, what to do
     */
    record Absent(String library, String reason) implements Availability {
        /** Checks that there is a reason. */
        public Absent {
            Objects.requireNonNull(library, "library");
            if (reason.isBlank()) {
                throw new IllegalArgumentException("an absent library needs a reason: " + library);
            }
        }

        @Override
        public String toString() {
            return library + " is not available: " + reason;
        }
    }
}
