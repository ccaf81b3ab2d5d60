package io.kvtier.bindings.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kvtier.bindings.ChildJvm;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.emulator.DeviceEmulator;
import java.time.Duration;
import java.util.HexFormat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Memory and events of two processes. */
@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class IpcTest {
    private static final Device GPU = new Device(0);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @Test
    void memoryAndEventsAreSharedWithAnotherProcess() throws Exception {
        try (Stream stream = Stream.create(GPU);
                DeviceMemory memory = DeviceMemory.allocate(GPU, 16);
                Event event = Event.create(GPU, EventOption.INTERPROCESS);
                ChildJvm peer = ChildJvm.start(
                        IpcPeer.class,
                        DeviceEmulator.flags(),
                        HexFormat.of().formatHex(memory.ipcHandle().toBytes()),
                        Long.toString(memory.byteSize()),
                        HexFormat.of().formatHex(event.ipcHandle().toBytes()))) {
            assertThat(peer.hear("failed ")).isEqualTo("cudaIpcCloseMemHandle, closed true");
            assertThat(peer.hear("opened ")).isEqualTo("16");
            DeviceEmulator.holdStreams(true);
            Copies.fill(stream, memory, 0, 16, (byte) 0x1f);
            event.record(stream);
            peer.say("event recorded");
            assertThat(peer.hear("done ")).isEqualTo("false");
            assertThat(peer.hear("stream ")).as("waits for the event").isEqualTo("false");
            DeviceEmulator.holdStreams(false);
            assertThat(stream.await(MINUTE)).isTrue();
            peer.say("event reached");
            assertThat(peer.hear("stream ")).isEqualTo("true");
            assertThat(peer.hear("read ")).isEqualTo("1f".repeat(16));
            assertThat(peer.hear("filled ")).isEqualTo("true");
            assertThat(peer.hear("refused ")).contains("OTHER_PROCESS");
            assertThat(peer.hear("live ")).isEqualTo("{}");
            assertThat(peer.exitCode()).isZero();
            assertThat(DeviceEmulator.peek(memory.address(), 16))
                    .containsExactly(31, 31, 31, 31, 31, 31, 31, 31, 77, 77, 77, 77, 77, 77, 77, 77);
        }
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void handleOfNothingIsRefused() {
        IpcMemoryHandle memory = IpcMemoryHandle.of(new byte[IpcHandle.BYTES], 4096);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> DeviceMemory.open(GPU, memory))
                .withMessageContaining("cudaIpcOpenMemHandle")
                .withMessageContaining("device 0, 4096 bytes");
        IpcEventHandle event = IpcEventHandle.of(new byte[IpcHandle.BYTES]);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> Event.open(GPU, event))
                .withMessageContaining("cudaIpcOpenEventHandle");
        assertThat(memory).hasToString("IpcMemoryHandle " + "00".repeat(64));
        assertThat(NativeHandles.live()).isEmpty();
    }
}
