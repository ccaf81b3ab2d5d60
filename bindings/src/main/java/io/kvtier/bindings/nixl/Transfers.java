package io.kvtier.bindings.nixl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.kvtier.bindings.internal.Backoff;
import io.kvtier.bindings.internal.FirstFailure;
import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/** Makes an agent's transfers and knows those that are open. */
final class Transfers {
    private static final String LOCAL = "";

    private final AgentHandle agent;
    private final Backends backends;
    private final Registrations registrations;
    private final Set<Transfer> open = ConcurrentHashMap.newKeySet();
    private final Set<PreparedDescriptors> prepared = ConcurrentHashMap.newKeySet();

    Transfers(AgentHandle agent, Backends backends, Registrations registrations) {
        this.agent = agent;
        this.backends = backends;
        this.registrations = registrations;
    }

    Transfer create(
            Operation operation,
            Descriptors askedLocal,
            Descriptors askedRemote,
            String remoteAgent,
            TransferOptions options) {
        Names.require("remote agent", remoteAgent);
        Descriptors local = askedLocal.snapshot().requireFor(Descriptors.Use.TRANSFER);
        Descriptors remote = askedRemote.snapshot().requireFor(Descriptors.Use.TRANSFER);
        requirePairs(local, remote);
        local.requireAlive();
        remote.requireAlive();
        return agent.call((handle, arena) -> {
            MemorySegment out = arena.allocate(ADDRESS);
            int status = NativeLists.withTransferList(
                    local,
                    arena,
                    from -> NativeLists.withTransferList(
                            remote,
                            arena,
                            to -> NativeLists.withOptions(
                                    List.of(),
                                    options,
                                    arena,
                                    args -> NixlApi.nixl_capi_create_xfer_req(
                                            handle,
                                            operation.code(),
                                            from,
                                            to,
                                            arena.allocateFrom(remoteAgent),
                                            out,
                                            args))));
            NixlStatus.check(
                    "create_xfer_req",
                    status,
                    operation + " between " + local + " and " + remote + " of agent " + remoteAgent
                            + "; is all of it registered, and the agent's metadata loaded?");
            Sides sides = new Sides(operation, local, remote, remoteAgent, local.size());
            return open(out.get(ADDRESS, 0), sides, remote.entries(), arena);
        });
    }

    PreparedDescriptors prepare(Descriptors asked, String remoteAgent) {
        Descriptors descriptors = asked.snapshot().requireFor(Descriptors.Use.TRANSFER);
        descriptors.requireAlive();
        return agent.call((handle, arena) -> {
            MemorySegment out = arena.allocate(ADDRESS);
            int status = NativeLists.withTransferList(
                    descriptors,
                    arena,
                    list -> NixlApi.nixl_capi_prep_xfer_dlist(
                            handle, arena.allocateFrom(remoteAgent), list, out, MemorySegment.NULL));
            NixlStatus.check(
                    "prep_xfer_dlist",
                    status,
                    descriptors + (remoteAgent.equals(LOCAL) ? "" : " of agent " + remoteAgent)
                            + "; is all of it registered, and the agent's metadata loaded?");
            PreparedDescriptors result = new PreparedDescriptors(this, descriptors, remoteAgent, out.get(ADDRESS, 0));
            prepared.add(result);
            return result;
        });
    }

    PreparedDescriptors prepareLocal(Descriptors descriptors) {
        return prepare(descriptors, LOCAL);
    }

    Transfer make(
            Operation operation,
            PreparedDescriptors local,
            int[] localIndices,
            PreparedDescriptors remote,
            int[] remoteIndices,
            TransferOptions options) {
        int[] from = localIndices.clone();
        int[] to = remoteIndices.clone();
        requirePairs(local, from, remote, to);
        local.descriptors().requireAlive();
        remote.descriptors().requireAlive();
        return agent.call((handle, arena) -> {
            MemorySegment out = arena.allocate(ADDRESS);
            int status = NativeLists.withOptions(
                    List.of(),
                    unmergedIfLong(options, local.descriptors(), from),
                    arena,
                    args -> NixlApi.nixl_capi_make_xfer_req(
                            handle,
                            operation.code(),
                            local.handle(),
                            arena.allocateFrom(JAVA_INT, from),
                            from.length,
                            remote.handle(),
                            arena.allocateFrom(JAVA_INT, to),
                            to.length,
                            out,
                            args));
            NixlStatus.check(
                    "make_xfer_req",
                    status,
                    operation + " between " + from.length + " of " + local.descriptors() + " and " + to.length + " of "
                            + remote.descriptors() + " of agent " + remote.remoteAgent()
                            + "; was the agent invalidated?");
            Sides sides =
                    new Sides(operation, local.descriptors(), remote.descriptors(), remote.remoteAgent(), from.length);
            List<Descriptors.Entry> used = Arrays.stream(to)
                    .mapToObj(remote.descriptors().entries()::get)
                    .toList();
            return open(out.get(ADDRESS, 0), sides, used, arena);
        });
    }

    /** What a transfer is between. */
    record Sides(Operation operation, Descriptors local, Descriptors remote, String remoteAgent, int descriptors) {}

    /** Adjacent descriptors are merged, and Linux moves less than 2 GiB at a time. */
    private static TransferOptions unmergedIfLong(TransferOptions options, Descriptors local, int[] indices) {
        long bytes = Arrays.stream(indices)
                .mapToLong(index -> local.entries().get(index).length())
                .sum();
        return bytes > Descriptors.MAX_BYTES ? options.keepingDescriptorsApart() : options;
    }

    private Transfer open(MemorySegment request, Sides sides, List<Descriptors.Entry> remoteEntries, Arena arena) {
        Optional<Backend> backend = backends.of(agent.address(), request, arena);
        if (backend.isPresent() && sides.descriptors() > backend.get().maxDescriptors()) {
            NixlApi.nixl_capi_release_xfer_req(agent.address(), request);
            NixlApi.nixl_capi_destroy_xfer_req(request);
            throw new IllegalArgumentException(
                    "a transfer of backend " + backend.get().plugin() + " may have "
                            + backend.get().maxDescriptors() + " descriptors, got " + sides.descriptors());
        }
        boolean checks =
                backend.isPresent() && FileExtents.canCheck(backend.get().plugin(), sides.remote());
        FileExtents files = checks ? FileExtents.of(remoteEntries, registrations) : FileExtents.NONE;
        Transfer transfer = new Transfer(this, agent, request, sides, backend.orElse(null), files);
        open.add(transfer);
        return transfer;
    }

    void forget(Transfer transfer) {
        open.remove(transfer);
    }

    void release(PreparedDescriptors descriptors) {
        if (prepared.remove(descriptors)) {
            agent.runAlone((handle, _) -> descriptors.free(handle));
        }
    }

    /** Ends all transfers and prepared descriptors; throws at once if a transfer does not end in time. */
    void close(FirstFailure failure) {
        long deadline = Backoff.deadline(Transfer.CLOSE_WAIT);
        for (Transfer transfer : List.copyOf(open)) {
            failure.in(() -> transfer.tryClose(deadline));
        }
        long remaining = open.stream().filter(Transfer::isInProgress).count();
        if (remaining > 0) {
            throw new IllegalStateException(
                    "agent " + agent.name() + " has " + remaining
                            + " transfers that are still in progress; their memory must stay open until a later close succeeds");
        }
        List.copyOf(prepared).forEach(each -> failure.in(() -> release(each)));
    }

    /** Throws if a transfer or prepared descriptors came while the others were ended. */
    void requireNone() {
        if (!open.isEmpty() || !prepared.isEmpty()) {
            throw new IllegalStateException("agent " + agent.name() + " was used while it was closed; close it again");
        }
    }

    /** Throws if something open uses what is registered. */
    void requireUnused(Descriptors registered) {
        Ranges ranges = new Ranges(registered);
        long transfers = open.stream().filter(each -> uses(each, ranges)).count();
        long lists = prepared.stream()
                .filter(each -> isOwn(each.remoteAgent()) && ranges.touchedBy(each.descriptors()))
                .count();
        if (transfers + lists > 0) {
            throw new IllegalStateException("the registration of " + registered + " is used by " + transfers
                    + " open transfers and " + lists + " prepared lists of descriptors; close those first");
        }
    }

    private boolean uses(Transfer transfer, Ranges ranges) {
        Sides sides = transfer.sides();
        return ranges.touchedBy(sides.local()) || (isOwn(sides.remoteAgent()) && ranges.touchedBy(sides.remote()));
    }

    private boolean isOwn(String name) {
        return name.equals(LOCAL) || name.equals(agent.name());
    }

    /** Throws if a transfer with another agent is in progress. */
    void requireNoneInProgressWith(String remoteAgent) {
        long count = open.stream()
                .filter(each -> each.sides().remoteAgent().equals(remoteAgent) && each.isInProgress())
                .count();
        if (count > 0) {
            throw new IllegalStateException("agent " + remoteAgent + " cannot be invalidated: " + count
                    + " transfers with it are in progress, and their memory would be in use unseen; wait for them");
        }
    }

    private static void requirePairs(Descriptors local, Descriptors remote) {
        if (local.size() != remote.size()) {
            throw new IllegalArgumentException("local and remote descriptors must pair up: " + local.size() + " local, "
                    + remote.size() + " remote");
        }
        IntStream.range(0, local.size()).forEach(i -> requirePair(i, local, i, remote, i));
    }

    private void requirePairs(PreparedDescriptors local, int[] from, PreparedDescriptors remote, int[] to) {
        if (!local.isOf(this) || !remote.isOf(this)) {
            throw new IllegalArgumentException("prepared descriptors belong to another agent than " + agent.name());
        }
        if (!local.remoteAgent().equals(LOCAL) || remote.remoteAgent().equals(LOCAL)) {
            throw new IllegalArgumentException(
                    "the local side must be prepared with prepareLocal, the remote side with prepareRemote");
        }
        if (from.length != to.length || from.length == 0) {
            throw new IllegalArgumentException("local and remote indices must pair up and be at least one: "
                    + from.length + " local, " + to.length + " remote");
        }
        local.requireIndices(from);
        remote.requireIndices(to);
        IntStream.range(0, from.length)
                .forEach(i -> requirePair(i, local.descriptors(), from[i], remote.descriptors(), to[i]));
    }

    private static void requirePair(int pair, Descriptors local, int from, Descriptors remote, int to) {
        long length = local.entries().get(from).length();
        long other = remote.entries().get(to).length();
        if (length != other || length > Descriptors.MAX_BYTES) {
            throw new IllegalArgumentException(
                    "descriptor " + pair + " must have the same length on both sides, at most " + Descriptors.MAX_BYTES
                            + "; got " + length + " local, " + other + " remote");
        }
    }
}
