package io.kvtier.bindings.posix;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.posix.NativeFile.Option;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class NativeFileCloseTest {
    @TempDir
    Path folder;

    @Test
    void noReadSeesTheFileThatGotTheNumberOfAClosedOne() throws Exception {
        for (int round = 0; round < 200; round++) {
            NativeFile file = filled("right" + round, (byte) 1);
            AtomicInteger wrong = new AtomicInteger();
            CountDownLatch running = new CountDownLatch(2);
            List<Thread> readers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                readers.add(Thread.ofPlatform().start(() -> readUntilClosed(file, running, wrong)));
            }
            assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
            int number = file.descriptor();
            file.close();
            try (NativeFile other = filled("wrong" + round, (byte) 2)) {
                assertThat(other.descriptor()).as("numbers are reused").isLessThanOrEqualTo(number + 2);
                for (Thread reader : readers) {
                    reader.join(60_000);
                    assertThat(reader.isAlive()).isFalse();
                }
            }
            assertThat(wrong).as("round %d", round).hasValue(0);
        }
        assertThat(NativeHandles.live()).isEmpty();
    }

    private NativeFile filled(String name, byte value) {
        NativeFile file = NativeFile.open(folder.resolve(name), Option.READ, Option.WRITE, Option.CREATE);
        try (Arena arena = Arena.ofConfined()) {
            file.write(arena.allocate(4096).fill(value), 0);
        }
        return file;
    }

    private static void readUntilClosed(NativeFile file, CountDownLatch running, AtomicInteger wrong) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocate(4096);
            while (true) {
                if (file.read(page, 0) != 4096 || page.get(ValueLayout.JAVA_BYTE, 17) != 1) {
                    wrong.incrementAndGet();
                }
                running.countDown();
            }
        } catch (IllegalStateException e) {
            if (!String.valueOf(e.getMessage()).endsWith("is closed")) {
                wrong.incrementAndGet();
            }
        } catch (PosixException e) {
            wrong.incrementAndGet();
        }
    }
}
