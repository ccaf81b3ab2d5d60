package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import io.kvtier.bindings.FetchedNatives;
import io.kvtier.bindings.NativeHandles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Bad input and traps of NIXL: refused in Java, with values, before native code sees them. */
@ExtendWith(FetchedNatives.class)
class NixlRefusalsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int PIECE = 4096;

    @TempDir
    Path folder;

    private Arena arena;
    private Agent agent;
    private Backend posix;
    private MemorySegment memory;

    @BeforeEach
    void create() {
        arena = Arena.ofShared();
        agent = Agent.create("strict", AgentConfig.DEFAULT);
        posix = agent.createBackend("POSIX", Map.of("ios_pool_size", "64"));
        memory = arena.allocate(128 * PIECE, 4096);
        agent.register(Descriptors.of(MemoryType.DRAM).add(memory));
    }

    @AfterEach
    void nothingIsLeft() {
        agent.close();
        arena.close();
        assertThat(NativeHandles.live()).isEmpty();
    }

    static Stream<Arguments> badDescriptors() {
        Descriptors memory = Descriptors.of(MemoryType.DRAM);
        Descriptors device = Descriptors.of(MemoryType.VRAM);
        Descriptors files = Descriptors.of(MemoryType.FILE);
        Descriptors objects = Descriptors.of(MemoryType.OBJECT);
        Descriptors blocks = Descriptors.of(MemoryType.BLOCK);
        MemorySegment bytes = Arena.ofAuto().allocate(16);
        return Stream.of(
                bad("heap segment", "heap segment of 8 bytes", () -> memory.add(MemorySegment.ofArray(new byte[8]))),
                bad("past the end", "[8, 8 + 9)", () -> memory.add(bytes, 8, 9)),
                bad("negative offset", "[-1, -1 + 4)", () -> memory.add(bytes, -1, 4)),
                bad("negative length", "[0, 0 + -4)", () -> memory.add(bytes, 0, -4)),
                bad("empty", "at least 1", () -> memory.add(bytes, 4, 0)),
                bad("file in memory", "of type DRAM, not FILE", () -> memory.addFile(1, 0, 1)),
                bad("memory in files", "of type FILE, not DRAM", () -> files.add(bytes)),
                bad("negative device", "CUDA device -1", () -> device.addDevice(4096, 1, -1)),
                bad("negative device address", "-4096", () -> device.addDevice(-4096, 1, 0)),
                bad("negative file descriptor", "descriptor -1", () -> files.addFile(-1, 0, 1)),
                bad("negative file length", "-5", () -> files.addFile(1, 0, -5)),
                bad("range that overflows", "9223372036854775807", () -> files.addFile(1, Long.MAX_VALUE, 2)),
                bad("NUL in path", "NUL", () -> files.addPath(1, "rw", "a\0b", 0, 1)),
                bad("empty path", "path", () -> files.addPath("")),
                bad("unknown mode", "'write'", () -> files.addPath(1, "write", "a", 0, 1)),
                bad("mode with a colon", "'rw:'", () -> files.addPath(1, "rw:", "a", 0, 1)),
                bad("empty key", "key", () -> objects.addObject(1, "", 0, 1)),
                bad("NUL in key", "NUL", () -> objects.addObject(1, "k\0", 0, 1)),
                bad("negative block", "-1", () -> blocks.addBlock(0, -1, 1)),
                bad("negative port", "got -1", () -> AgentConfig.DEFAULT.listening(-1)),
                bad("port that is none", "name one", () -> AgentConfig.DEFAULT.listening(0)),
                bad("port beyond 16 bits", "got 65536", () -> AgentConfig.DEFAULT.listening(65_536)),
                bad("empty notification", "at least 1", () -> TransferOptions.DEFAULT.withNotification(new byte[0])),
                bad("IPv6", "IPv4", () -> MetadataServer.agentAt(new InetSocketAddress("::1", 80))),
                bad(
                        "unresolved host",
                        "resolved",
                        () -> MetadataServer.agentAt(InetSocketAddress.createUnresolved("nowhere", 80))));
    }

    private static Arguments bad(String name, String message, Runnable call) {
        return argumentSet(name, message, call);
    }

    @ParameterizedTest
    @MethodSource("badDescriptors")
    void badDescriptorsAreRefusedWithValues(String message, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfAny(IllegalArgumentException.class, IndexOutOfBoundsException.class)
                .hasMessageContaining(message);
    }

    static Stream<Arguments> badNames() {
        return Stream.of(
                argumentSet("agent", (Consumer<Named>) with -> Agent.create(with.name(), AgentConfig.DEFAULT)),
                argumentSet("plugin", (Consumer<Named>) with -> with.agent().createBackend(with.name(), Map.of())),
                argumentSet(
                        "description", (Consumer<Named>) with -> with.agent().describePlugin(with.name())),
                argumentSet("parameter", (Consumer<Named>)
                        with -> with.agent().createBackend("UCX", Map.of(with.name(), "1"))),
                argumentSet("value", (Consumer<Named>)
                        with -> with.agent().createBackend("UCX", Map.of("key", with.name()))),
                argumentSet("known", (Consumer<Named>) with -> with.agent().knows(with.name())),
                argumentSet(
                        "invalidated", (Consumer<Named>) with -> with.agent().invalidateRemote(with.name())),
                argumentSet("connected", (Consumer<Named>) with -> with.agent().connect(with.name())),
                argumentSet("notified", (Consumer<Named>) with -> with.agent().notify(with.name(), new byte[1])),
                argumentSet("fetched", (Consumer<Named>)
                        with -> with.agent().fetchMetadata(with.name(), MetadataServer.store())),
                argumentSet("prepared", (Consumer<Named>)
                        with -> with.agent().prepareRemote(with.descriptors(), with.name())),
                argumentSet("remote", (Consumer<Named>) with -> with.agent()
                        .transfer(
                                Operation.READ,
                                with.descriptors(),
                                with.descriptors(),
                                with.name(),
                                TransferOptions.DEFAULT)));
    }

    private record Named(Agent agent, String name, Descriptors descriptors) {}

    @ParameterizedTest
    @MethodSource("badNames")
    void emptyNamesAndNulAreRefused(Consumer<Named> call) {
        for (String name : List.of("", "\0", "a\0b")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> call.accept(new Named(agent, name, memory(0, PIECE))))
                    .withMessageContaining("must not be empty or contain a NUL");
        }
    }

    @Test
    @SuppressWarnings("NullAway") // what a caller without checks may do
    void nullsAreRefused() {
        assertThatNullPointerException().isThrownBy(() -> Agent.create(null, AgentConfig.DEFAULT));
        assertThatNullPointerException().isThrownBy(() -> Descriptors.of(null));
        assertThatNullPointerException().isThrownBy(() -> agent.register(null));
        assertThatNullPointerException().isThrownBy(() -> agent.connect(null));
        assertThatNullPointerException().isThrownBy(() -> agent.loadRemoteMetadata(null));
        assertThatNullPointerException().isThrownBy(() -> agent.createBackend("UCX", null));
    }

    @Test
    void listsThatDoNotPairUpAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> transfer(Descriptors.of(MemoryType.DRAM), file(1, 0, PIECE)))
                .withMessageContaining("at least one descriptor");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> transfer(memory(0, PIECE).add(memory, 0, PIECE), file(1, 0, PIECE)))
                .withMessageContaining("2 local, 1 remote");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> transfer(memory(0, PIECE), file(1, 0, PIECE - 1)))
                .withMessageContaining("got 4096 local, 4095 remote");
        Descriptors huge = file(1, 0, (1L << 30) + 1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> transfer(huge, huge))
                .withMessageContaining("at most 1073741824");
    }

    @Test
    void whatIsNotRegisteredAndWrongTypesAreErrorsOfNixl() {
        register(1, "file");
        for (Runnable call : List.<Runnable>of(
                () -> transfer(memory(0, PIECE), file(2, 0, PIECE)),
                () -> transfer(memory(0, PIECE), file(1, 100L * PIECE, PIECE)),
                () -> transfer(memory(0, PIECE), memory(0, PIECE)),
                () -> transfer(file(1, 0, PIECE), memory(0, PIECE)))) {
            assertThatExceptionOfType(NixlException.class)
                    .isThrownBy(call::run)
                    .withMessageContaining("is all of it registered");
        }
        assertThatExceptionOfType(NixlException.class)
                .isThrownBy(
                        () -> agent.register(Descriptors.of(MemoryType.OBJECT).addObject(1, "key", 0, 1)))
                .withMessageContaining("is there a backend for it");
    }

    @Test
    void closedMemoryIsRefused() {
        Descriptors local = Descriptors.of(MemoryType.DRAM);
        Registration registration;
        register(1, "file");
        Transfer transfer;
        try (Arena shortLived = Arena.ofShared()) {
            MemorySegment gone = shortLived.allocate(PIECE);
            local.add(gone);
            registration = agent.register(local);
            transfer = transfer(local, file(1, 0, PIECE));
        }
        assertThatIllegalStateException().isThrownBy(transfer::post).withMessageContaining("was closed before");
        assertThatIllegalStateException().isThrownBy(() -> transfer(local, file(1, 0, PIECE)));
        assertThatIllegalStateException().isThrownBy(() -> agent.register(local));
        assertThatIllegalStateException().isThrownBy(() -> agent.prepareLocal(local));
        transfer.close();
        registration.close();
    }

    @Test
    void numbersStandForOneFileEach() throws Exception {
        Registration first = register(1, "first");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> register(1, "second"))
                .withMessageContaining("number 1 stands for 'rw,create:")
                .withMessageContaining("first' already");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> agent.register(Descriptors.of(MemoryType.FILE).addFile(1, 0, PIECE)))
                .withMessageContaining("it cannot stand for an open file descriptor");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> agent.register(Descriptors.of(MemoryType.FILE)
                        .addPath(2, "ro", "a", 0, PIECE)
                        .addPath(2, "ro", "b", 0, PIECE)));
        assertThat(folder.resolve("second")).doesNotExist();
        first.close();
        register(1, "second").close();
        assertThat(Files.exists(folder.resolve("second"))).isTrue();
    }

    @Test
    void descriptorsServeOnlyTheirUse() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> agent.register(Descriptors.of(MemoryType.FILE).addRegisteredPath(1, 0, 1)))
                .withMessageContaining("FILE 1 at 0 was added as registered");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> agent.register(Descriptors.of(MemoryType.FILE).addPath("a")))
                .withMessageContaining("the path 'a' can only be asked for");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        transfer(memory(0, 1), Descriptors.of(MemoryType.FILE).addPath("a")));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> agent.query(memory(0, 1), posix))
                .withMessageContaining("only files and objects");
    }

    @Test
    void moreDescriptorsThanThePluginTakesAreRefused() {
        register(1, "file");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> transfer(pieces(65), filePieces(65)))
                .withMessageContaining("may have 64 descriptors, got 65");
        List<Transfer> transfers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            transfers.add(transfer(pieces(40), filePieces(40)));
        }
        transfers.getFirst().post();
        assertThat(posix.descriptorsInFlight()).isEqualTo(40);
        assertThatIllegalStateException()
                .isThrownBy(transfers.getLast()::post)
                .withMessageContaining("may have 64 descriptors in flight, has 40 and got 40 more");
        assertThat(transfers.getFirst().await(LONG)).isTrue();
        transfers.getLast().post();
        assertThat(transfers.getLast().await(LONG)).isTrue();
        assertThat(posix.descriptorsInFlight()).isZero();
        transfers.forEach(Transfer::close);
    }

    @Test
    void harmfulBackendsAreRefusedWithAdvice() {
        try (Agent other = Agent.create("other", AgentConfig.DEFAULT)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> other.createBackend("POSIX", Map.of("use_posix_aio", "true")))
                    .withMessageContaining("use_posix_aio is refused")
                    .withMessageContaining("use_uring");
            for (String size : List.of("63", "65537", "-1", "many", "")) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> other.createBackend("POSIX", Map.of("ios_pool_size", size)));
            }
            if (!Files.isReadable(Path.of("/proc/modules"))) {
                assertThatIllegalStateException().isThrownBy(() -> other.createBackend("GDS", Map.of()));
                assertThatIllegalStateException().isThrownBy(() -> other.createBackend("GDS_MT", Map.of()));
            }
            assertThatExceptionOfType(NixlException.class)
                    .isThrownBy(() -> other.createBackend("OBJ", Map.of("secret_key", "hush")))
                    .withMessageContaining("it needs the parameter bucket")
                    .withMessageNotContaining("hush");
        }
        assertThatIllegalStateException()
                .isThrownBy(() -> agent.createBackend("POSIX", Map.of()))
                .withMessageContaining("already at work");
        assertThatIllegalStateException()
                .isThrownBy(() -> PluginTraps.refuse("GDS", Map.of(), List.of("POSIX", "GDS_MT")))
                .withMessageContaining("GDS and GDS_MT cannot both");
    }

    @Test
    void whoDoesNotListenCannotExchange() {
        MetadataServer server = MetadataServer.agentAt(new InetSocketAddress("127.0.0.1", 9));
        assertThatIllegalStateException()
                .isThrownBy(() -> agent.fetchMetadata("other", server))
                .withMessageContaining("AgentConfig.listening");
        assertThatExceptionOfType(NixlException.class)
                .isThrownBy(() -> agent.sendMetadata(MetadataServer.store()))
                .withMessageContaining("the metadata store");
    }

    private Registration register(long id, String name) {
        return agent.register(Descriptors.of(MemoryType.FILE)
                .addPath(id, "rw,create", folder.resolve(name).toString(), 0, 64L * PIECE));
    }

    private Transfer transfer(Descriptors local, Descriptors remote) {
        return agent.transfer(Operation.WRITE, local, remote, "strict", TransferOptions.DEFAULT);
    }

    private Descriptors memory(long offset, long length) {
        return Descriptors.of(MemoryType.DRAM).add(memory, offset, length);
    }

    private static Descriptors file(long id, long offset, long length) {
        return Descriptors.of(MemoryType.FILE).addRegisteredPath(id, offset, length);
    }

    private Descriptors pieces(int count) {
        Descriptors pieces = Descriptors.of(MemoryType.DRAM);
        for (int i = 0; i < count; i++) {
            pieces.add(memory, (long) i * PIECE, PIECE);
        }
        return pieces;
    }

    private static Descriptors filePieces(int count) {
        Descriptors pieces = Descriptors.of(MemoryType.FILE);
        for (int i = 0; i < count; i++) {
            pieces.addRegisteredPath(1, (long) (i % 64) * PIECE, PIECE);
        }
        return pieces;
    }
}
