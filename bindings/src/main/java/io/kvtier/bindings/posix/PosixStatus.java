package io.kvtier.bindings.posix;

import io.kvtier.bindings.internal.Errno;
import io.kvtier.bindings.posix.generated.PosixApi;

/** The one place where a failed call becomes an exception. */
final class PosixStatus {
    private PosixStatus() {}

    /** Returns what a call answered, unless it is the -1 of a failure. */
    static long check(String function, long answer, String arguments) {
        if (answer == -1) {
            throw failure(function, arguments);
        }
        return answer;
    }

    /** Returns whether a call failed only since a signal came: it is to be made again. */
    static boolean interrupted(long answer) {
        return failed(answer, PosixApi.EINTR());
    }

    /** Returns whether a call failed with this number. */
    static boolean failed(long answer, int errno) {
        return answer == -1 && Errno.last() == errno;
    }

    /** Returns the exception of the call of this thread that failed just now. */
    static PosixException failure(String function, String arguments) {
        return failure(function, Errno.last(), arguments);
    }

    static PosixException failure(String function, int errno, String arguments) {
        return new PosixException(function, errno, arguments);
    }
}
