package io.kvtier.bindings.cufile;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One read or write of a {@link Transfers}: a slot that is filled again and again. */
final class Operation {
    private @Nullable RegisteredFile file;
    private @Nullable RegisteredBuffer buffer;
    private boolean write;
    private long offset;
    private long bytes;
    private long position;
    private boolean held;
    private Transfers.State state = Transfers.State.PREPARED;
    private long moved;
    private long error;
    private int cudaError;

    /** Takes an operation up, if it makes sense, and holds its file and its buffer until {@link #release}. */
    void prepare(
            boolean isWrite,
            RegisteredFile theFile,
            RegisteredBuffer theBuffer,
            long theOffset,
            long theBytes,
            long thePosition) {
        Ranges.checkMemory(theBuffer, theOffset, theBytes, theBuffer.byteSize());
        Ranges.checkPosition(theFile, thePosition, theBytes);
        if (theBytes == 0) {
            throw new IllegalArgumentException("an operation moves 1 byte at least: 0 bytes at " + thePosition + " of "
                    + theFile + ", 0 bytes at " + theOffset + " of " + theBuffer);
        }
        Ranges.checkWritable(theBuffer, isWrite || theBuffer.isWritable());
        hold(theFile, theBuffer);
        file = theFile;
        buffer = theBuffer;
        write = isWrite;
        offset = theOffset;
        bytes = theBytes;
        position = thePosition;
        state = Transfers.State.PREPARED;
        moved = 0;
    }

    private void hold(RegisteredFile theFile, RegisteredBuffer theBuffer) {
        theFile.users().hold();
        try {
            theBuffer.users().hold();
        } catch (IllegalStateException e) {
            theFile.users().release();
            throw e;
        }
        held = true;
    }

    /** Lets go of file and buffer: native code has done with them. */
    void release() {
        if (held) {
            held = false;
            file().users().release();
            buffer().users().release();
        }
    }

    void begin() {
        state = Transfers.State.IN_FLIGHT;
    }

    void done(long bytesMoved) {
        moved = bytesMoved;
        state = Transfers.State.DONE;
    }

    void canceled() {
        state = Transfers.State.CANCELED;
    }

    /** Ends it with an errno or one of cuFile's codes, and that of CUDA if there is one. */
    void failed(long number, int cudaNumber) {
        error = number;
        cudaError = cudaNumber;
        state = Transfers.State.FAILED;
    }

    Transfers.State state() {
        return state;
    }

    RegisteredFile file() {
        return present(file);
    }

    RegisteredBuffer buffer() {
        return present(buffer);
    }

    boolean isWrite() {
        return write;
    }

    long offset() {
        return offset;
    }

    long bytes() {
        return bytes;
    }

    long position() {
        return position;
    }

    long moved() {
        return moved;
    }

    /** Returns why it did not move all of its bytes, if it has ended and did not. */
    Optional<CuFileException> failure(String function, int index) {
        String arguments = "operation " + index + ", " + this;
        return switch (state) {
            case FAILED -> Optional.of(CuFileStatus.failedIo(function, error, cudaError, arguments));
            case CANCELED -> Optional.of(CuFileStatus.canceled(function, arguments));
            case DONE ->
                moved == bytes
                        ? Optional.empty()
                        : Optional.of(
                                CuFileStatus.shortIo(function, moved, arguments + ", which moved " + moved + " bytes"));
            case PREPARED, IN_FLIGHT -> Optional.empty();
        };
    }

    @Override
    public String toString() {
        return (write ? "write of " : "read of ") + bytes + " bytes at " + position + " of " + file
                + (write ? " from offset " : " to offset ") + offset + " of " + buffer;
    }

    private static <T> T present(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("the operation was never prepared");
        }
        return part;
    }
}
