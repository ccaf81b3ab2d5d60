package io.kvtier.bindings.cuda;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The streams whose work uses a memory. */
final class StreamUses {
    /*
     * A copy returns long before the stream runs it, and until then its memory must stay. Asking each copy for an event would
     * cost more than the copy's call, so a memory only remembers the streams: a few, added once. When it is to be closed, an
     * event at the present end of each of those streams says when all that was asked for so far is done, however much other
     * work goes on there. A closed stream needs no event: it closed only when it had no work left.
     */
    private final List<Stream> streams = new ArrayList<>(2);
    private volatile @Nullable Stream last;

    /** Remembers a stream, before work is given to it. */
    void add(Stream stream) {
        if (last != stream) {
            addSlowly(stream);
        }
    }

    /** Returns the streams that may have work left. */
    synchronized List<Stream> open() {
        streams.removeIf(Stream::isClosed);
        return List.copyOf(streams);
    }

    /** Waits until what the streams were given so far is done; returns false if the time is over. */
    boolean await(long deadline) {
        for (Stream stream : open()) {
            if (!stream.awaitPresentWork(deadline)) {
                return false;
            }
        }
        return true;
    }

    private synchronized void addSlowly(Stream stream) {
        if (!streams.contains(stream)) {
            streams.removeIf(Stream::isClosed);
            streams.add(stream);
        }
        last = stream;
    }
}
