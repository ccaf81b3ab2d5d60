package io.kvtier.tier.file;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/**
 * Runs file I/O that may be repeated from its beginning. An interrupt closes the channel of the thread that is in it, which
 * is the caller's affair and no fault of the disk: the I/O is done again, and the thread is interrupted when it is over.
 */
final class Uninterruptibly {
    private Uninterruptibly() {}

    /** I/O with a result. */
    interface Io<R> {
        R run() throws IOException;
    }

    /** I/O without a result. */
    interface PlainIo {
        void run() throws IOException;
    }

    static <R> R call(Io<R> io) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return io.run();
                } catch (ClosedByInterruptException e) {
                    interrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    static void run(PlainIo io) throws IOException {
        boolean done = call(() -> {
            io.run();
            return true;
        });
        assert done;
    }
}
