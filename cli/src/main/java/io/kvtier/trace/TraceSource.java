package io.kvtier.trace;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where the bytes of a trace come from, packed or not. */
interface TraceSource {

    /** Returns the name that errors show. */
    String name();

    /** Opens the bytes as they are stored. */
    InputStream open() throws IOException;

    /** Returns the file of this name, or of this name with ".gz", in the same folder; null if there is none. */
    @Nullable
    TraceSource sibling(String fileName);

    /** A file of the file system. */
    record OfFile(Path path) implements TraceSource {
        @Override
        public String name() {
            return path.toString();
        }

        @Override
        public InputStream open() throws IOException {
            return Files.newInputStream(path);
        }

        @Override
        public @Nullable TraceSource sibling(String fileName) {
            return find(path.resolveSibling(fileName));
        }

        static @Nullable TraceSource find(Path plain) {
            if (Files.exists(plain)) {
                return new OfFile(plain);
            }
            Path packed = plain.resolveSibling(plain.getFileName() + ".gz");
            return Files.exists(packed) ? new OfFile(packed) : null;
        }
    }

    /** A file that lies beside this class. */
    record OfResource(String resource) implements TraceSource {
        @Override
        public String name() {
            return "bundled:" + resource;
        }

        @Override
        public InputStream open() throws IOException {
            InputStream found = TraceSource.class.getResourceAsStream(resource);
            if (found == null) {
                throw new FileNotFoundException(name() + " is missing from this build of kvtier");
            }
            return found;
        }

        @Override
        public @Nullable TraceSource sibling(String fileName) {
            return null;
        }
    }
}
