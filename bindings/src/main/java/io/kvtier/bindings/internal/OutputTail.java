package io.kvtier.bindings.internal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;

/** Reads all that a process prints, and keeps the end of it. */
final class OutputTail {
    private static final int KEPT = 1 << 16;

    private final byte[] bytes = new byte[KEPT];
    private long length;
    private final Thread reader;

    private OutputTail(InputStream input) {
        reader = Thread.ofPlatform().daemon().name("kvtier-probe-output").unstarted(() -> drain(input));
    }

    static OutputTail of(Process process) {
        OutputTail tail = new OutputTail(process.getInputStream());
        tail.reader.start();
        return tail;
    }

    /** Waits for the end of the output, but no longer than told: a process that was left behind may keep it open. */
    String text(Duration wait) throws InterruptedException {
        reader.join(wait);
        return text();
    }

    private void drain(InputStream input) {
        byte[] buffer = new byte[8192];
        try {
            for (int count = input.read(buffer); count >= 0; count = input.read(buffer)) {
                add(buffer, count);
            }
        } catch (IOException e) {
            // the process was killed
        }
    }

    private synchronized void add(byte[] buffer, int count) {
        int at = (int) (length % KEPT);
        int first = Math.min(count, KEPT - at);
        System.arraycopy(buffer, 0, bytes, at, first);
        System.arraycopy(buffer, first, bytes, 0, count - first);
        length += count;
    }

    private synchronized String text() {
        if (length <= KEPT) {
            return new String(bytes, 0, (int) length, StandardCharsets.UTF_8);
        }
        int start = (int) (length % KEPT);
        byte[] ordered = Arrays.copyOf(Arrays.copyOfRange(bytes, start, KEPT), KEPT);
        System.arraycopy(bytes, 0, ordered, KEPT - start, start);
        return new String(ordered, StandardCharsets.UTF_8);
    }
}
