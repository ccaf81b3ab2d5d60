package io.kvtier.bindings.nixl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.internal.LibcNative;
import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A NIXL agent: it owns backends and moves bytes between what is registered with it, and with other agents whose metadata
 * it has loaded. Safe for all threads; a {@link Transfer} is for one at a time. Some calls may block for long (files that
 * are written in the call, object stores that do not answer): make them on platform threads.
 */
public final class Agent implements AutoCloseable {
    /*
     * Calls hold the shared side of `lock`, close() the exclusive side, so the native agent cannot go away under a call.
     * close() ends transfers first, then registrations, then the agent; a transfer that does not end keeps the agent: the
     * native side may still write to its memory.
     */
    private static final String KIND = "nixl.agent";
    private static final long CLOSE_WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final String name;
    private final MemorySegment handle;
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private final Set<Transfer> transfers = Collections.synchronizedSet(new HashSet<>());
    private final Set<Registration> registrations = Collections.synchronizedSet(new HashSet<>());
    private final List<Backend> backends = Collections.synchronizedList(new ArrayList<>());
    private boolean closed;

    private Agent(String name, MemorySegment handle) {
        this.name = name;
        this.handle = handle;
        NativeHandles.opened(KIND);
    }

    /**
     * Creates an agent.
     *
     * @param name a name that no other agent it talks to has; not empty
     * @throws IllegalStateException if NIXL is not available
     * @throws NixlException if NIXL refuses
     */
    public static Agent create(String name, AgentConfig config) {
        Nixl.require();
        requireText("agent name", name);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            int status =
                    NixlApi.nixl_capi_create_configured_agent(arena.allocateFrom(name), config.toNative(arena), out);
            NixlStatus.check("create_configured_agent", status, "name " + name);
            return new Agent(name, out.get(ADDRESS, 0));
        }
    }

    /** Returns the agent's name. */
    public String name() {
        return name;
    }

    /** Returns the plugins that are installed; whether one can work shows only when its backend is created. */
    public List<String> plugins() {
        return call(arena -> {
            MemorySegment out = arena.allocate(ADDRESS);
            NixlStatus.check("get_available_plugins", NixlApi.nixl_capi_get_available_plugins(handle, out));
            return NativeLists.takeStrings(out.get(ADDRESS, 0), arena);
        });
    }

    /**
     * Returns what a plugin says of itself.
     *
     * @throws NixlException if it is not installed or cannot be loaded
     */
    public PluginDescription describePlugin(String plugin) {
        requireText("plugin", plugin);
        return call(arena -> {
            MemorySegment types = arena.allocate(ADDRESS);
            MemorySegment params = arena.allocate(ADDRESS);
            int status = NixlApi.nixl_capi_get_plugin_params(handle, arena.allocateFrom(plugin), types, params);
            NixlStatus.check("get_plugin_params", status, "plugin " + plugin);
            List<MemoryType> memoryTypes = NativeLists.takeMemoryTypes(types.get(ADDRESS, 0), arena);
            return new PluginDescription(memoryTypes, NativeLists.takeParams(params.get(ADDRESS, 0), arena));
        });
    }

    /**
     * Puts a plugin to work; an agent has one backend of each.
     *
     * @param plugin e.g. {@code POSIX}, {@code UCX}
     * @param params its parameters
     * @throws NixlException if it cannot be loaded or refuses the parameters; the message names what is installed
     */
    public Backend createBackend(String plugin, Map<String, String> params) {
        requireText("plugin", plugin);
        params.forEach((key, value) -> requireText("parameter " + key, value));
        List<String> installed = plugins();
        return call(arena -> {
            MemorySegment out = arena.allocate(ADDRESS);
            int status = NativeLists.withParams(
                    params,
                    arena,
                    container -> NixlApi.nixl_capi_create_backend(handle, arena.allocateFrom(plugin), container, out));
            NixlStatus.check(
                    "create_backend",
                    status,
                    "plugin " + plugin + " with parameters " + params.keySet() + "; installed: " + installed
                            + (installed.contains(plugin)
                                    ? "; a library that it needs may be missing (NIXL_LOG_LEVEL=INFO tells), or it is"
                                            + " already at work in this agent"
                                    : ""));
            Backend backend = new Backend(plugin, params, out.get(ADDRESS, 0));
            backends.add(backend);
            return backend;
        });
    }

    /**
     * Registers memory, files or objects.
     *
     * @param descriptors what to register; not empty
     * @param users backends that shall know it; all that can if none is named
     * @return the registration; the caller closes it
     */
    public Registration register(Descriptors descriptors, Backend... users) {
        requireNotEmpty(descriptors);
        descriptors.requireAlive();
        List<Backend> list = List.of(users);
        return call(arena -> {
            int status = NativeLists.withRegistrationList(
                    descriptors,
                    arena,
                    dlist -> NativeLists.withOptions(
                            list,
                            TransferOptions.DEFAULT,
                            arena,
                            args -> NixlApi.nixl_capi_register_mem(handle, dlist, args)));
            NixlStatus.check("register_mem", status, describe(descriptors));
            Registration registration = new Registration(this, descriptors, list);
            registrations.add(registration);
            return registration;
        });
    }

    /**
     * Creates a transfer between places that are registered. Local and remote descriptors pair up by position and length.
     *
     * @param remoteAgent name of the agent that the remote side belongs to; this agent's own for files and objects
     * @return the transfer; the caller posts and closes it
     * @throws IllegalArgumentException if the lists do not pair up, or a piece exceeds 1 GiB
     */
    public Transfer transfer(
            Operation operation, Descriptors local, Descriptors remote, String remoteAgent, TransferOptions options) {
        requirePairs(local, remote);
        requireText("remote agent", remoteAgent);
        return call(arena -> {
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
                    operation + " between " + describe(local) + " and " + describe(remote) + " of agent " + remoteAgent
                            + "; is all of it registered, and the agent's metadata loaded?");
            return track(out.get(ADDRESS, 0), List.of(local, remote));
        });
    }

    /**
     * Returns, for each descriptor of files or objects, what the backend knows of it, or empty if it does not exist.
     *
     * @throws NixlException if the backend cannot answer; that says nothing about existence
     */
    public List<Optional<Map<String, String>>> query(Descriptors descriptors, Backend backend) {
        requireNotEmpty(descriptors);
        return call(arena -> {
            MemorySegment out = arena.allocate(ADDRESS);
            NixlStatus.check("create_query_resp_list", NixlApi.nixl_capi_create_query_resp_list(out));
            MemorySegment answers = out.get(ADDRESS, 0);
            try {
                int status = NativeLists.withRegistrationList(
                        descriptors,
                        arena,
                        dlist -> NativeLists.withOptions(
                                List.of(backend),
                                TransferOptions.DEFAULT,
                                arena,
                                args -> NixlApi.nixl_capi_query_mem(handle, dlist, answers, args)));
                NixlStatus.check("query_mem", status, describe(descriptors));
                return readAnswers(answers, arena);
            } finally {
                NixlApi.nixl_capi_destroy_query_resp_list(answers);
            }
        });
    }

    /**
     * Returns what another agent must load to reach this one: connection data and registered memory. It holds keys that
     * grant access to the memory: treat it as a secret.
     */
    public byte[] localMetadata() {
        return call(arena -> {
            MemorySegment bytes = arena.allocate(ADDRESS);
            MemorySegment length = arena.allocate(JAVA_LONG);
            NixlStatus.check("get_local_md", NixlApi.nixl_capi_get_local_md(handle, bytes, length));
            return takeBytes(bytes.get(ADDRESS, 0), length.get(JAVA_LONG, 0));
        });
    }

    /**
     * Loads another agent's metadata; again when it has registered more.
     *
     * @return the other agent's name
     * @throws NixlException if it is no metadata of this version, or this agent's own
     */
    public String loadRemoteMetadata(byte[] metadata) {
        return call(arena -> {
            MemorySegment out = arena.allocate(ADDRESS);
            MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, metadata);
            NixlStatus.check(
                    "load_remote_md",
                    NixlApi.nixl_capi_load_remote_md(handle, bytes, metadata.length, out),
                    metadata.length + " bytes");
            String remote = NativeLists.text(out);
            LibcNative.free(out.get(ADDRESS, 0));
            return remote;
        });
    }

    /** Returns whether another agent's metadata is loaded; it may be dead all the same. */
    public boolean knows(String remoteAgent) {
        requireText("remote agent", remoteAgent);
        return call(arena -> {
            int status = NixlApi.nixl_capi_check_remote_md(handle, arena.allocateFrom(remoteAgent), MemorySegment.NULL);
            if (status != NixlStatus.NOT_FOUND) {
                NixlStatus.check("check_remote_md", status, "agent " + remoteAgent);
            }
            return status == NixlStatus.SUCCESS;
        });
    }

    /** Forgets another agent; needed before a new agent of the same name can be loaded. */
    public void invalidateRemote(String remoteAgent) {
        requireText("remote agent", remoteAgent);
        run(arena -> NixlStatus.check(
                "invalidate_remote_md",
                NixlApi.nixl_capi_invalidate_remote_md(handle, arena.allocateFrom(remoteAgent)),
                "agent " + remoteAgent));
    }

    /** Connects to another agent now rather than at the first transfer. */
    public void connect(String remoteAgent) {
        requireText("remote agent", remoteAgent);
        run(arena -> NativeLists.withOptions(List.of(), TransferOptions.DEFAULT, arena, args -> {
            int status = NixlApi.nixl_capi_agent_make_connection(handle, arena.allocateFrom(remoteAgent), args);
            NixlStatus.check("agent_make_connection", status, "agent " + remoteAgent);
            return status;
        }));
    }

    /** Sends a message of its own to another agent. */
    public void notify(String remoteAgent, byte[] message) {
        requireText("remote agent", remoteAgent);
        run(arena -> NativeLists.withOptions(List.of(), TransferOptions.DEFAULT, arena, args -> {
            MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, message);
            int status =
                    NixlApi.nixl_capi_gen_notif(handle, arena.allocateFrom(remoteAgent), bytes, message.length, args);
            NixlStatus.check("gen_notif", status, message.length + " bytes to agent " + remoteAgent);
            return status;
        }));
    }

    /**
     * Returns and forgets the messages that have come.
     *
     * @throws NixlException if no backend of this agent can notify
     */
    public List<Notification> notifications() {
        return call(arena -> {
            MemorySegment out = arena.allocate(ADDRESS);
            NixlStatus.check("create_notif_map", NixlApi.nixl_capi_create_notif_map(out));
            MemorySegment map = out.get(ADDRESS, 0);
            try {
                NativeLists.withOptions(List.of(), TransferOptions.DEFAULT, arena, args -> {
                    int status = NixlApi.nixl_capi_get_notifs(handle, map, args);
                    NixlStatus.check("get_notifs", status);
                    return status;
                });
                return readNotifications(map, arena);
            } finally {
                NixlApi.nixl_capi_destroy_notif_map(map);
            }
        });
    }

    /**
     * Ends transfers, waiting up to 10 seconds for those in progress, then registrations, then the agent and its
     * backends. Closing twice does nothing.
     *
     * @throws IllegalStateException if a transfer is still in progress then: agent and memory must stay; close it again
     *     later
     */
    @Override
    public void close() {
        for (Transfer transfer : List.copyOf(transfers)) {
            if (!transfer.tryClose(CLOSE_WAIT_NANOS)) {
                throw new IllegalStateException(
                        "agent " + name + " has a transfer that is still in progress; its memory"
                                + " must stay open until a later close succeeds");
            }
        }
        List.copyOf(registrations).forEach(Registration::close);
        lock.writeLock().lock();
        try {
            if (!closed) {
                closed = true;
                backends.forEach(Backend::free);
                int status = NixlApi.nixl_capi_destroy_agent(handle);
                NativeHandles.closed(KIND);
                NixlStatus.check("destroy_agent", status, "agent " + name);
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    int post(MemorySegment request) {
        return call(arena -> NixlApi.nixl_capi_post_xfer_req(handle, request, MemorySegment.NULL));
    }

    int status(MemorySegment request) {
        lock.readLock().lock();
        try {
            requireOpen();
            return NixlApi.nixl_capi_get_xfer_status(handle, request);
        } finally {
            lock.readLock().unlock();
        }
    }

    void free(Transfer transfer, MemorySegment request) {
        transfers.remove(transfer);
        run(arena -> {
            int released = NixlApi.nixl_capi_release_xfer_req(handle, request);
            NixlApi.nixl_capi_destroy_xfer_req(request);
            NixlStatus.check("release_xfer_req", released);
        });
    }

    void deregister(Registration registration, Descriptors descriptors, List<Backend> users) {
        registrations.remove(registration);
        run(arena -> NixlStatus.check(
                "deregister_mem",
                NativeLists.withRegistrationList(
                        descriptors,
                        arena,
                        dlist -> NativeLists.withOptions(
                                users,
                                TransferOptions.DEFAULT,
                                arena,
                                args -> NixlApi.nixl_capi_deregister_mem(handle, dlist, args))),
                describe(descriptors)));
    }

    private Transfer track(MemorySegment request, List<Descriptors> used) {
        Transfer transfer = new Transfer(this, request, used);
        transfers.add(transfer);
        return transfer;
    }

    private interface Call<R> {
        R in(Arena arena);
    }

    private interface Action {
        void in(Arena arena);
    }

    private <R> R call(Call<R> call) {
        lock.readLock().lock();
        try (Arena arena = Arena.ofConfined()) {
            requireOpen();
            return call.in(arena);
        } finally {
            lock.readLock().unlock();
        }
    }

    private void run(Action action) {
        call(arena -> {
            action.in(arena);
            return name;
        });
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("agent " + name + " is closed");
        }
    }

    private static List<Optional<Map<String, String>>> readAnswers(MemorySegment answers, Arena arena) {
        MemorySegment size = arena.allocate(JAVA_LONG);
        NixlStatus.check("query_resp_list_size", NixlApi.nixl_capi_query_resp_list_size(answers, size));
        MemorySegment present = arena.allocate(JAVA_BOOLEAN);
        MemorySegment params = arena.allocate(ADDRESS);
        List<Optional<Map<String, String>>> result = new ArrayList<>();
        for (long i = 0; i < size.get(JAVA_LONG, 0); i++) {
            NixlStatus.check(
                    "query_resp_list_has_value", NixlApi.nixl_capi_query_resp_list_has_value(answers, i, present));
            if (!present.get(JAVA_BOOLEAN, 0)) {
                result.add(Optional.empty());
                continue;
            }
            NixlStatus.check(
                    "query_resp_list_get_params", NixlApi.nixl_capi_query_resp_list_get_params(answers, i, params));
            result.add(Optional.of(NativeLists.takeParams(params.get(ADDRESS, 0), arena)));
        }
        return List.copyOf(result);
    }

    private static List<Notification> readNotifications(MemorySegment map, Arena arena) {
        MemorySegment number = arena.allocate(JAVA_LONG);
        NixlStatus.check("notif_map_size", NixlApi.nixl_capi_notif_map_size(map, number));
        List<Notification> result = new ArrayList<>();
        MemorySegment agent = arena.allocate(ADDRESS);
        for (long i = 0, agents = number.get(JAVA_LONG, 0); i < agents; i++) {
            NixlStatus.check("notif_map_get_agent_at", NixlApi.nixl_capi_notif_map_get_agent_at(map, i, agent));
            readMessages(map, agent.get(ADDRESS, 0), NativeLists.text(agent), arena, result);
        }
        return List.copyOf(result);
    }

    private static void readMessages(
            MemorySegment map, MemorySegment agent, String from, Arena arena, List<Notification> result) {
        MemorySegment number = arena.allocate(JAVA_LONG);
        NixlStatus.check("notif_map_get_notifs_size", NixlApi.nixl_capi_notif_map_get_notifs_size(map, agent, number));
        MemorySegment bytes = arena.allocate(ADDRESS);
        MemorySegment length = arena.allocate(JAVA_LONG);
        for (long i = 0, messages = number.get(JAVA_LONG, 0); i < messages; i++) {
            NixlStatus.check(
                    "notif_map_get_notif", NixlApi.nixl_capi_notif_map_get_notif(map, agent, i, bytes, length));
            byte[] message =
                    bytes.get(ADDRESS, 0).reinterpret(length.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
            result.add(new Notification(from, message));
        }
    }

    private static byte[] takeBytes(MemorySegment bytes, long length) {
        try {
            return bytes.reinterpret(length).toArray(JAVA_BYTE);
        } finally {
            LibcNative.free(bytes);
        }
    }

    private void requirePairs(Descriptors local, Descriptors remote) {
        requireNotEmpty(local);
        local.requireAlive();
        remote.requireAlive();
        if (local.size() != remote.size()) {
            throw new IllegalArgumentException("local and remote descriptors must pair up: " + local.size() + " local, "
                    + remote.size() + " remote");
        }
        for (int i = 0; i < local.size(); i++) {
            long length = local.entries().get(i).length();
            if (length != remote.entries().get(i).length() || length > Descriptors.MAX_BYTES) {
                throw new IllegalArgumentException(
                        "descriptor " + i + " must have the same length on both sides, at most "
                                + Descriptors.MAX_BYTES + "; got " + length + " local, "
                                + remote.entries().get(i).length() + " remote");
            }
        }
        int most = backends.stream().mapToInt(Backend::maxDescriptors).min().orElse(Integer.MAX_VALUE);
        if (local.size() > most) {
            throw new IllegalArgumentException(
                    "a transfer of this agent may have " + most + " descriptors, got " + local.size());
        }
    }

    private static void requireNotEmpty(Descriptors descriptors) {
        if (descriptors.size() == 0) {
            throw new IllegalArgumentException("there must be at least one descriptor");
        }
    }

    private static void requireText(String what, String value) {
        Objects.requireNonNull(value, what);
        if (value.isEmpty() || value.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(what + " must not be empty or contain a NUL");
        }
    }

    private static String describe(Descriptors descriptors) {
        return descriptors.size() + " descriptors of type " + descriptors.type() + ", " + descriptors.bytes()
                + " bytes";
    }
}
