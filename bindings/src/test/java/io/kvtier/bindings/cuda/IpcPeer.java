package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.emulator.EmulatorNative;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;

/** The other process of {@link IpcTest}: opens memory and an event, reads, writes and tells what it sees. */
final class IpcPeer {
    private static final Device GPU = new Device(0);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final BufferedReader INPUT =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    private IpcPeer() {}

    public static void main(String[] arguments) throws IOException {
        IpcMemoryHandle memory =
                IpcMemoryHandle.of(HexFormat.of().parseHex(arguments[0]), Long.parseLong(arguments[1]));
        IpcEventHandle event = IpcEventHandle.of(HexFormat.of().parseHex(arguments[2]));
        try (Stream stream = Stream.create(GPU);
                Event filled = Event.open(GPU, event);
                DeviceMemory shared = DeviceMemory.open(GPU, memory)) {
            openAndClose(memory);
            System.out.println("opened " + shared.byteSize());
            requireLine("event recorded");
            System.out.println("done " + filled.isDone());
            stream.waitFor(filled);
            System.out.println("stream " + stream.await(Duration.ofMillis(50)));
            requireLine("event reached");
            System.out.println("stream " + stream.await(MINUTE));
            System.out.println("read " + read(stream, shared));
            Copies.fill(stream, shared, 8, 8, (byte) 77);
            System.out.println("filled " + stream.await(MINUTE));
            try {
                shared.ipcHandle();
            } catch (IllegalStateException e) {
                System.out.println("refused " + e.getMessage());
            }
        }
        System.out.println("live " + NativeHandles.live());
    }

    /** What is opened twice stays until it is closed twice; here the runtime tells of an error at one of them. */
    private static void openAndClose(IpcMemoryHandle memory) {
        EmulatorNative emulator = new EmulatorNative(Path.of(System.getProperty("kvtier.cudart.path")));
        DeviceMemory again = DeviceMemory.open(GPU, memory);
        try (Arena arena = Arena.ofConfined()) {
            emulator.call("fail", arena.allocateFrom("cudaIpcCloseMemHandle"), 1L, 999);
            again.close();
        } catch (CudaException e) {
            System.out.println("failed " + e.function() + ", closed " + again.isClosed());
        }
    }

    private static void requireLine(String expected) throws IOException {
        String line = INPUT.readLine();
        if (!expected.equals(line)) {
            throw new IllegalStateException("expected '" + expected + "', got " + line);
        }
    }

    private static String read(Stream stream, DeviceMemory memory) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(16);
            Copies.copy(stream, bytes, 0, memory, 0, 16);
            stream.synchronize();
            return HexFormat.of().formatHex(bytes.toArray(JAVA_BYTE));
        }
    }
}
