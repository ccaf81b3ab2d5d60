package io.kvtier.bindings.posix;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.internal.Errno;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.List;

/** On which of the machine's memory nodes memory lies. */
public final class Numa {
    private static final String NAME = "NUMA placement";

    /** What the kernel can have at most. */
    private static final int MOST_NODES = 1024;

    private static final long MASK_BYTES = MOST_NODES / 8;

    /** The kernel takes one off the number of bits. */
    private static final long MASK_BITS = MOST_NODES + 1L;

    private Numa() {}

    /** Returns whether the kernel lets this process choose nodes; one node is enough. */
    public static Availability availability() {
        return Holder.AVAILABILITY;
    }

    /**
     * Returns the numbers of the nodes whose memory this process may use, in order.
     *
     * @throws IllegalStateException if it is not available
     */
    public static List<Integer> nodes() {
        require();
        return Holder.NODES;
    }

    /**
     * Makes memory come from one node only, and moves there what has been touched.
     *
     * @param memory whole pages of memory: of a {@link MappedMemory}, for instance
     * @throws PosixException with EINVAL if the node does not exist, with EIO if pages cannot be moved
     */
    public static void bind(MemorySegment memory, int node) {
        place(memory, PosixApi.MPOL_BIND(), List.of(node));
    }

    /** Makes memory come from one node as long as that has some, and moves there what has been touched. */
    public static void prefer(MemorySegment memory, int node) {
        place(memory, PosixApi.MPOL_PREFERRED(), List.of(node));
    }

    /** Makes memory come from nodes in turn, page by page. */
    public static void interleave(MemorySegment memory, List<Integer> nodes) {
        place(memory, PosixApi.MPOL_INTERLEAVE(), nodes);
    }

    /**
     * Returns the node of the page at an offset; a page that was never written has none of its own, and the answer means
     * nothing then.
     */
    public static int nodeOf(MemorySegment memory, long offset) {
        require();
        MemorySegment page = Segments.slice(Segments.requireNative(memory), offset, 1);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment node = arena.allocate(ValueLayout.JAVA_INT);
            long flags = PosixApi.MPOL_F_NODE() | PosixApi.MPOL_F_ADDR();
            long answer = PosixNative.getMempolicy(node, MemorySegment.NULL, 0, page, flags);
            PosixStatus.check("get_mempolicy", answer, "node of an address, offset " + offset);
            return node.get(ValueLayout.JAVA_INT, 0);
        }
    }

    private static void place(MemorySegment memory, int mode, List<Integer> nodes) {
        require();
        Segments.requireNative(memory);
        if (memory.address() % Posix.pageBytes() != 0) {
            throw new IllegalArgumentException("only whole pages of memory have nodes: the address 0x"
                    + Long.toHexString(memory.address()) + " is no multiple of " + Posix.pageBytes());
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = mask(arena, nodes);
            long answer = PosixNative.mbind(memory, memory.byteSize(), mode, mask, MASK_BITS, PosixApi.MPOL_MF_MOVE());
            PosixStatus.check("mbind", answer, memory.byteSize() + " bytes to nodes " + nodes + " of " + nodes());
        }
    }

    private static MemorySegment mask(Arena arena, List<Integer> nodes) {
        if (nodes.isEmpty() || !nodes().containsAll(nodes)) {
            throw new IllegalArgumentException("cannot place memory on nodes " + nodes + "; there are " + nodes());
        }
        BitSet bits = new BitSet();
        nodes.forEach(bits::set);
        MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
        byte[] bytes = bits.toByteArray();
        MemorySegment.copy(bytes, 0, mask, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return mask;
    }

    private static void require() {
        if (availability() instanceof Availability.Absent absent) {
            throw new IllegalStateException(absent.toString());
        }
    }

    private static List<Integer> allowed(Arena arena) {
        MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
        long answer = PosixNative.getMempolicy(
                MemorySegment.NULL, mask, MASK_BITS, MemorySegment.NULL, PosixApi.MPOL_F_MEMS_ALLOWED());
        PosixStatus.check("get_mempolicy", answer, "nodes allowed");
        return BitSet.valueOf(mask.toArray(ValueLayout.JAVA_BYTE)).stream()
                .boxed()
                .toList();
    }

    /** Says what a refusal of the kernel means. */
    static Availability absent(int errno) {
        if (errno == PosixApi.ENOSYS()) {
            return Availability.absent(NAME, "the kernel was built without it (get_mempolicy: ENOSYS)");
        }
        return Availability.absent(
                NAME,
                "the kernel or a container's seccomp profile forbids it (get_mempolicy: " + Errno.name(errno)
                        + "); memory comes from where threads first touch it");
    }

    private static final class Holder {
        static final List<Integer> NODES;
        static final Availability AVAILABILITY;

        static {
            List<Integer> nodes = List.of();
            Availability availability = Posix.availability();
            if (availability.isAvailable()) {
                try (Arena arena = Arena.ofConfined()) {
                    nodes = allowed(arena);
                    availability = Availability.present(NAME, "mbind", "nodes " + nodes);
                } catch (PosixException e) {
                    availability = absent((int) e.code());
                }
            }
            NODES = nodes;
            AVAILABILITY = availability;
        }
    }
}
