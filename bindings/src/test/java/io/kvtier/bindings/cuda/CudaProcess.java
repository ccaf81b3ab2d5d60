package io.kvtier.bindings.cuda;

import io.kvtier.bindings.NativeHandles;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** What a test looks at in a process of its own, since it crashes, leaves things open or finds no device. */
final class CudaProcess {
    private static final Device GPU = new Device(0);

    private CudaProcess() {}

    public static void main(String[] arguments) {
        switch (arguments[0]) {
            case "stray" -> stray();
            case "leak" -> leak();
            case "clean" -> clean();
            case "availability" -> availability();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static void stray() {
        DeviceMemory memory = DeviceMemory.allocate(GPU, 64);
        System.out.println("allocated");
        MemorySegment asIfOfTheHost = MemorySegment.ofAddress(memory.address()).reinterpret(64);
        System.out.println("read " + asIfOfTheHost.get(ValueLayout.JAVA_BYTE, 0));
    }

    private static void leak() {
        DeviceMemory.allocate(GPU, 64);
        PinnedMemory.allocate(GPU, 64);
        Stream stream = Stream.create(GPU);
        Event.create(GPU).record(stream);
        System.out.println("live " + NativeHandles.live());
    }

    private static void clean() {
        try (Stream stream = Stream.create(GPU);
                Event event = Event.create(GPU);
                DeviceMemory memory = DeviceMemory.allocate(GPU, 64);
                PinnedMemory pinned = PinnedMemory.allocate(GPU, 64)) {
            Copies.copy(stream, memory, 0, pinned, 0, 64);
            event.record(stream);
        }
        System.out.println("live " + NativeHandles.live());
    }

    private static void availability() {
        System.out.println("runtime " + Cuda.runtime());
        System.out.println("devices " + Cuda.devices());
        System.out.println("count " + outcome(() -> Integer.toString(Device.count())));
        System.out.println("version " + outcome(() -> Integer.toString(Cuda.runtimeVersion())));
        System.out.println("driver " + outcome(() -> Integer.toString(Cuda.driverVersion())));
        System.out.println("stream " + outcome(() -> Stream.create(GPU).toString()));
        System.out.println(
                "memory " + outcome(() -> DeviceMemory.allocate(GPU, 1).toString()));
        System.out.println(
                "pinned " + outcome(() -> PinnedMemory.allocate(GPU, 1).toString()));
        System.out.println("live " + NativeHandles.live());
    }

    private interface Question {
        String ask();
    }

    private static String outcome(Question question) {
        try {
            return question.ask();
        } catch (IllegalStateException e) {
            return "refused: " + e.getMessage();
        }
    }
}
