package io.kvtier.bindings.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.emulator.DeviceEmulator;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class MemoryPoolTest {
    private static final Device GPU = new Device(0);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @AfterEach
    void nothingIsLive() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void poolKeepsWhatItsThresholdSays() {
        try (MemoryPool pool = MemoryPool.create(GPU);
                Stream stream = Stream.create(GPU)) {
            assertThat(pool.device()).isEqualTo(GPU);
            assertThat(pool.usedBytes()).isZero();
            assertThat(pool.releaseThreshold()).isZero();
            pool.setReleaseThreshold(5_000_000_000L);
            assertThat(pool.releaseThreshold()).isEqualTo(5_000_000_000L);
            try (DeviceMemory memory = DeviceMemory.allocateFrom(pool, stream, 1000)) {
                assertThat(pool.usedBytes()).isEqualTo(memory.byteSize());
                assertThat(pool.reservedBytes()).isEqualTo(1000);
            }
            stream.synchronize();
            assertThat(pool.usedBytes()).isZero();
            assertThat(pool.reservedBytes()).isEqualTo(1000);
            pool.trimTo(400);
            assertThat(pool.reservedBytes()).isEqualTo(400);
            pool.setReleaseThreshold(0);
            stream.synchronize();
            assertThat(pool.reservedBytes()).isZero();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pool.setReleaseThreshold(-1))
                    .withMessageContaining("got -1");
            assertThatIllegalArgumentException().isThrownBy(() -> pool.trimTo(-7));
        }
    }

    @Test
    void poolStaysAsLongAsItsMemory() {
        MemoryPool pool = MemoryPool.create(GPU);
        try (Stream stream = Stream.create(GPU)) {
            DeviceMemory memory = DeviceMemory.allocateFrom(pool, stream, 64);
            assertThatIllegalStateException()
                    .isThrownBy(pool::close)
                    .withMessageContaining("the memory pool of device 0 stays open")
                    .withMessageContaining("1 holders");
            assertThat(pool.isClosed()).isFalse();
            assertThatExceptionOfType(CudaException.class)
                    .isThrownBy(() -> DeviceMemory.allocateFrom(pool, stream, 1L << 40));
            memory.close();
            pool.close();
            pool.close();
            assertThat(DeviceEmulator.calls("cudaMemPoolDestroy")).isEqualTo(1);
            String message = "the memory pool of device 0 is closed";
            assertThatIllegalStateException()
                    .isThrownBy(() -> DeviceMemory.allocateFrom(pool, stream, 64))
                    .withMessage(message);
            assertThatIllegalStateException().isThrownBy(pool::usedBytes).withMessage(message);
            assertThatIllegalStateException().isThrownBy(() -> pool.trimTo(0)).withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> pool.setReleaseThreshold(0))
                    .withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> pool.enableAccess(new Device(1)))
                    .withMessage(message);
        }
    }

    @Test
    void otherDevicesNeedAccess() {
        Device second = new Device(1);
        try (MemoryPool pool = MemoryPool.create(GPU);
                Stream owner = Stream.create(GPU);
                Stream other = Stream.create(second)) {
            try (DeviceMemory memory = DeviceMemory.allocateFrom(pool, owner, 64)) {
                assertThat(memory.device()).isEqualTo(GPU);
                assertThat(owner.await(MINUTE)).isTrue();
                assertThatExceptionOfType(CudaException.class)
                        .isThrownBy(() -> Copies.fill(other, memory, 0, 64, (byte) 1));
                assertThat(DeviceEmulator.takeMisuse())
                        .singleElement()
                        .asString()
                        .contains("has no access");
                pool.enableAccess(second);
                Copies.fill(other, memory, 0, 64, (byte) 1);
                assertThat(other.await(MINUTE)).isTrue();
                assertThat(DeviceEmulator.peek(memory.address(), 64)).containsOnly(1);
                pool.disableAccess(second);
            }
            assertThatExceptionOfType(CudaException.class)
                    .isThrownBy(() -> pool.disableAccess(GPU))
                    .withMessageContaining("cudaMemPoolSetAccess")
                    .withMessageContaining("memory pool of device 0, peer device 0, flags 0");
        }
    }

    @Test
    void defaultPoolIsOnlyLookedAt() {
        try (MemoryPool pool = MemoryPool.ofDefault(GPU);
                Stream stream = Stream.create(GPU)) {
            long before = pool.usedBytes();
            try (DeviceMemory byPool = DeviceMemory.allocateFrom(pool, stream, 100);
                    DeviceMemory byDefault = DeviceMemory.allocateAsync(stream, 28)) {
                assertThat(pool.usedBytes()).isEqualTo(before + byPool.byteSize() + byDefault.byteSize());
            }
            assertThat(stream.await(MINUTE)).isTrue();
        }
        assertThat(DeviceEmulator.calls("cudaMemPoolDestroy")).isZero();
    }

    @Test
    void failedDestructionClosesNevertheless() {
        MemoryPool pool = MemoryPool.create(GPU);
        DeviceEmulator.fail("cudaMemPoolDestroy", 1, 999);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(pool::close)
                .withMessageContaining("memory pool of device 0");
        assertThat(pool.isClosed()).isTrue();
    }
}
