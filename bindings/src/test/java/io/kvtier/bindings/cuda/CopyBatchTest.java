package io.kvtier.bindings.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.emulator.DeviceEmulator;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class CopyBatchTest {
    private static final Device GPU = new Device(0);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final int PAGE = 64;
    private static final int PAGES = 50;

    private Stream stream;
    private DeviceMemory device;
    private PinnedMemory pinned;

    @BeforeEach
    void open() {
        stream = Stream.create(GPU);
        device = DeviceMemory.allocate(GPU, PAGES * PAGE);
        pinned = PinnedMemory.allocate(GPU, PAGES * PAGE);
    }

    @AfterEach
    void nothingIsLive() {
        pinned.close();
        device.close();
        stream.close();
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void batchIsOneCall() {
        CopyBatch batch = new CopyBatch(3);
        for (int page = 0; page < PAGES; page++) {
            pinned.segment().asSlice(page * PAGE, PAGE).fill((byte) page);
            batch.add(device, (PAGES - 1 - page) * PAGE, pinned, page * PAGE, PAGE);
        }
        assertThat(batch.size()).isEqualTo(PAGES);
        batch.submit(stream);
        assertThat(stream.await(MINUTE)).isTrue();
        assertThat(DeviceEmulator.calls("cudaMemcpyBatchAsync")).isEqualTo(1);
        assertThat(DeviceEmulator.calls("cudaMemcpyAsync")).isZero();
        for (int page = 0; page < PAGES; page++) {
            assertThat(DeviceEmulator.peek(device.address() + page * PAGE, PAGE))
                    .containsOnly(PAGES - 1 - page);
        }
    }

    @Test
    void batchIsSubmittedAgainAndFilledAnew() {
        CopyBatch batch = new CopyBatch(1);
        batch.add(device, 0, pinned, 0, PAGE);
        pinned.segment().fill((byte) 1);
        batch.submit(stream);
        assertThat(stream.await(MINUTE)).isTrue();
        pinned.segment().fill((byte) 2);
        batch.submit(stream);
        assertThat(stream.await(MINUTE)).isTrue();
        assertThat(DeviceEmulator.peek(device.address(), PAGE)).containsOnly(2);
        batch.clear();
        assertThat(batch.size()).isZero();
        batch.submit(stream);
        batch.add(device, PAGE, pinned, 0, PAGE);
        batch.submit(stream);
        assertThat(stream.await(MINUTE)).isTrue();
        assertThat(DeviceEmulator.peek(device.address() + PAGE, PAGE)).containsOnly(2);
        assertThat(DeviceEmulator.calls("cudaMemcpyBatchAsync")).isEqualTo(3);
    }

    @Test
    void memoryOfABatchStaysUntilTheStreamGotThere() throws InterruptedException {
        CopyBatch batch = new CopyBatch(1);
        batch.add(device, 0, pinned, 0, PAGE);
        DeviceEmulator.holdStreams(true);
        batch.submit(stream);
        batch.clear();
        Thread closer = Thread.ofPlatform().start(pinned::close);
        closer.join(50);
        assertThat(pinned.isClosed()).isFalse();
        DeviceEmulator.holdStreams(false);
        closer.join(60_000);
        assertThat(pinned.isClosed()).isTrue();
    }

    @Test
    void closedMemoryIsRefusedBeforeAnythingIsCopied() {
        CopyBatch batch = new CopyBatch(2);
        DeviceMemory gone = DeviceMemory.allocate(GPU, PAGE);
        batch.add(device, 0, pinned, 0, PAGE);
        batch.add(device, PAGE, gone, 0, PAGE);
        gone.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> batch.submit(stream))
                .withMessage("the " + gone + " is closed");
        assertThat(DeviceEmulator.calls("cudaMemcpyBatchAsync")).isZero();
        batch.clear();
        batch.add(device, 0, pinned, 0, PAGE);
        Stream closed = Stream.create(GPU);
        closed.close();
        assertThatIllegalStateException().isThrownBy(() -> batch.submit(closed));
        batch.submit(stream);
    }

    @Test
    void refusalNamesTheCopyWhereTheRuntimeDoes() {
        CopyBatch batch = new CopyBatch(2);
        try (MemoryPool pool = MemoryPool.create(new Device(1));
                Stream other = Stream.create(new Device(1));
                DeviceMemory foreign = DeviceMemory.allocateFrom(pool, other, PAGE)) {
            assertThat(other.await(MINUTE)).isTrue();
            batch.add(device, 0, pinned, 0, PAGE);
            batch.add(device, PAGE, foreign, 0, PAGE);
            assertThatExceptionOfType(CudaException.class)
                    .isThrownBy(() -> batch.submit(stream))
                    .satisfies(e -> assertThat(e.function()).isEqualTo("cudaMemcpyBatchAsync"))
                    .satisfies(e -> assertThat(e.arguments())
                            .isEqualTo(
                                    DeviceEmulator.major() == 12
                                            ? "invalid argument; 2 copies, copy 1: 64 bytes from " + foreign + " to "
                                                    + device
                                            : "invalid argument; 2 copies"));
            assertThat(DeviceEmulator.takeMisuse()).hasSize(1);
        }
    }

    @Test
    void capacityIsLimited() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new CopyBatch(0))
                .withMessageContaining("from 1 to 1048576 copies, got 0");
        assertThatIllegalArgumentException().isThrownBy(() -> new CopyBatch(CopyBatch.MAX_COPIES + 1));
        CopyBatch batch = new CopyBatch(CopyBatch.MAX_COPIES - 1);
        for (int i = 0; i < CopyBatch.MAX_COPIES; i++) {
            batch.add(device, 0, pinned, 0, 1);
        }
        assertThatIllegalStateException()
                .isThrownBy(() -> batch.add(device, 0, pinned, 0, 1))
                .withMessageContaining("the batch holds 1048576 copies");
        assertThat(batch.size()).isEqualTo(CopyBatch.MAX_COPIES);
    }
}
