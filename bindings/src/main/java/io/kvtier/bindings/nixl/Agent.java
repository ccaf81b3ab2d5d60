package io.kvtier.bindings.nixl;

import static java.lang.foreign.ValueLayout.ADDRESS;

import io.kvtier.bindings.internal.FirstFailure;
import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A NIXL agent: it owns backends and moves bytes between what is registered with it, and with other agents whose metadata
 * it has loaded. Safe for all threads; a {@link Transfer} is for one at a time. Some calls may block for long (files that
 * are written in the call, object stores that do not answer): make them on platform threads.
 *
 * <p>Whoever creates an agent closes it, before the memory that is registered with it. An agent that was not closed, or
 * could not be, stays until the process ends, and with it the memory of arenas that the garbage collector would close.
 */
public final class Agent implements AutoCloseable {
    /*
     * What the agent does is done by its parts, each with the calls of one topic; all share the handle, which keeps the
     * native agent alive under a call. close() ends transfers first, then registrations, then the agent; a transfer that
     * does not end keeps the agent, and OPEN keeps what the agent reaches: the native side may still write to its memory.
     */
    private static final Set<Agent> OPEN = ConcurrentHashMap.newKeySet();

    private final AgentHandle handle;
    private final Backends backends;
    private final Registrations registrations;
    private final Transfers transfers;
    private final Queries queries;
    private final MetadataExchange metadata;
    private final Notifications notifications;

    private Agent(AgentHandle handle, AgentConfig config) {
        this.handle = handle;
        backends = new Backends(handle);
        registrations = new Registrations(handle, backends);
        transfers = new Transfers(handle, backends, registrations);
        queries = new Queries(handle, backends);
        metadata = new MetadataExchange(handle, backends, config.listenPort() > 0);
        notifications = new Notifications(handle);
    }

    /**
     * Creates an agent.
     *
     * @param name a name that no other agent it talks to has; not empty
     * @throws IllegalStateException if NIXL is not available
     * @throws NixlException if NIXL refuses, e.g. because the port is in use
     */
    public static Agent create(String name, AgentConfig config) {
        Nixl.require();
        Names.require("agent name", name);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            int status =
                    NixlApi.nixl_capi_create_configured_agent(arena.allocateFrom(name), config.toNative(arena), out);
            NixlStatus.check("create_configured_agent", status, "name " + name + ", " + config);
            Agent agent = new Agent(new AgentHandle(name, out.get(ADDRESS, 0)), config);
            OPEN.add(agent);
            return agent;
        }
    }

    /** Returns the agent's name. */
    public String name() {
        return handle.name();
    }

    /** Returns the plugins that are installed; whether one can work shows only when its backend is created. */
    public List<String> plugins() {
        return backends.installed();
    }

    /**
     * Returns what a plugin says of itself.
     *
     * @throws NixlException if it is not installed or cannot be loaded
     */
    public PluginDescription describePlugin(String plugin) {
        return backends.describe(plugin);
    }

    /**
     * Puts a plugin to work; an agent has one backend of each.
     *
     * @param plugin e.g. {@code POSIX}, {@code UCX}
     * @param params its parameters
     * @throws IllegalArgumentException if a parameter is known to do harm; the message says what to use instead
     * @throws IllegalStateException if it is at work already, excludes another one, or would never return here
     * @throws NixlException if it cannot be loaded or refuses the parameters; the message names what is installed and what
     *     the plugin needs
     */
    public Backend createBackend(String plugin, Map<String, String> params) {
        return backends.create(plugin, params);
    }

    /** Returns what a backend of this agent says of itself, with the parameters it works with. */
    public PluginDescription describe(Backend backend) {
        return backends.describe(backend);
    }

    /**
     * Registers memory, files or objects.
     *
     * @param descriptors what to register; not empty
     * @param users backends that shall know it; all that can if none is named
     * @return the registration; the caller closes it
     * @throws IllegalArgumentException if a number stands for another file or object already
     * @throws NixlException if no backend can, or a file cannot be opened
     */
    public Registration register(Descriptors descriptors, Backend... users) {
        return registrations.register(this, descriptors, List.of(users));
    }

    void deregister(Registration registration, List<Backend> users) {
        registrations.deregister(registration, users, () -> transfers.requireUnused(registration.descriptors()));
    }

    /**
     * Creates a transfer between places that are registered. Local and remote descriptors pair up by position and length.
     *
     * @param remoteAgent name of the agent that the remote side belongs to; this agent's own for files and objects
     * @return the transfer; the caller posts and closes it
     * @throws IllegalArgumentException if the lists do not pair up, a piece exceeds 1 GiB, or they are more than the backend
     *     takes
     * @throws NixlException if something is not registered, or the other agent not known
     */
    public Transfer transfer(
            Operation operation, Descriptors local, Descriptors remote, String remoteAgent, TransferOptions options) {
        return transfers.create(operation, local, remote, remoteAgent, options);
    }

    /**
     * Looks up registered places in advance, as the local side of transfers.
     *
     * @return the prepared descriptors; the caller closes them
     */
    public PreparedDescriptors prepareLocal(Descriptors descriptors) {
        return transfers.prepareLocal(descriptors);
    }

    /**
     * Looks up registered places in advance, as the remote side of transfers.
     *
     * @param remoteAgent name of the agent that they belong to; this agent's own for files and objects
     * @return the prepared descriptors; the caller closes them
     */
    public PreparedDescriptors prepareRemote(Descriptors descriptors, String remoteAgent) {
        return transfers.prepare(descriptors, Names.require("remote agent", remoteAgent));
    }

    /**
     * Creates a transfer between some of the prepared descriptors. The indices pair up by position, and the descriptors by
     * length. Adjacent ones are merged unless the options or the 1 GiB that one piece may have forbid it.
     *
     * @return the transfer; the caller posts and closes it
     * @throws IndexOutOfBoundsException if an index is not one of the descriptors'
     * @throws IllegalArgumentException if the indices do not pair up
     * @throws IllegalStateException if prepared descriptors are closed
     */
    public Transfer transfer(
            Operation operation,
            PreparedDescriptors local,
            int[] localIndices,
            PreparedDescriptors remote,
            int[] remoteIndices,
            TransferOptions options) {
        return transfers.make(operation, local, localIndices, remote, remoteIndices, options);
    }

    /**
     * Returns, for each descriptor of files or objects, what the backend knows of it, or empty if it does not exist.
     * Questions to an agent go one after another, and an object store that does not answer may take half a minute each.
     *
     * @throws NixlException if the backend cannot answer; that says nothing about existence
     */
    public List<Optional<Map<String, String>>> query(Descriptors descriptors, Backend backend) {
        return queries.ask(descriptors, backend);
    }

    /**
     * Returns what another agent must load to reach this one: connection data and registered memory. It holds keys that
     * grant access to the memory: treat it as a secret.
     */
    public byte[] localMetadata() {
        return metadata.whole();
    }

    /**
     * Returns what another agent must load to reach some of the registered memory. It has no connection data: the other
     * agent must have loaded {@link #localConnection} or {@link #localMetadata} before.
     *
     * @param registered descriptors exactly as they were registered
     * @param users backends whose keys it shall have; all if none is named
     * @throws IllegalArgumentException if one is not registered
     */
    public byte[] localMetadata(Descriptors registered, Backend... users) {
        Descriptors part = registered.snapshot().requireFor(Descriptors.Use.TRANSFER);
        registrations.requireRegistered(part);
        return metadata.part(part, List.of(users));
    }

    /** Returns what another agent must load to connect to this one, without any of its memory. */
    public byte[] localConnection() {
        return metadata.part(Descriptors.of(MemoryType.DRAM), List.of());
    }

    /**
     * Loads another agent's metadata; again when it has registered more.
     *
     * @return the other agent's name
     * @throws NixlException if it is no metadata of this release, this agent's own, or that of a new agent whose
     *     predecessor of the same name was not invalidated
     */
    public String loadRemoteMetadata(byte[] bytes) {
        return metadata.load(bytes);
    }

    /**
     * Sends this agent's metadata; it arrives later.
     *
     * @throws IllegalStateException if it is for an agent, and this one does not listen
     * @throws NixlException if there is no such store
     */
    public void sendMetadata(MetadataServer to) {
        metadata.send(to);
    }

    /**
     * Asks for another agent's metadata; it arrives later: see {@link #knows}. If nothing answers, nothing happens.
     *
     * @throws IllegalStateException if it is from an agent, and this one does not listen
     * @throws NixlException if there is no such store, or the agent is not in it
     */
    public void fetchMetadata(String remoteAgent, MetadataServer from) {
        metadata.fetch(remoteAgent, from);
    }

    /**
     * Makes others forget this agent, later.
     *
     * @throws IllegalStateException if it is for an agent, and this one does not listen
     * @throws NixlException if there is no such store
     */
    public void withdrawMetadata(MetadataServer from) {
        metadata.withdraw(from);
    }

    /** Returns whether another agent's metadata is loaded; it may be dead all the same. */
    public boolean knows(String remoteAgent) {
        return metadata.knows(remoteAgent);
    }

    /**
     * Forgets another agent; needed before a new agent of the same name can be loaded.
     *
     * @throws IllegalStateException if a transfer with it is in progress: NIXL would no longer tell when its memory is free
     */
    public void invalidateRemote(String remoteAgent) {
        metadata.invalidate(remoteAgent, () -> transfers.requireNoneInProgressWith(remoteAgent));
    }

    /** Connects to another agent now rather than at the first transfer. */
    public void connect(String remoteAgent) {
        metadata.connect(remoteAgent);
    }

    /** Sends a message of its own to another agent. */
    public void notify(String remoteAgent, byte[] message) {
        notifications.send(remoteAgent, message);
    }

    /**
     * Returns and forgets the messages that have come.
     *
     * @throws NixlException if no backend of this agent can notify
     */
    public List<Notification> notifications() {
        return notifications.take();
    }

    /**
     * Ends transfers, waiting up to 10 seconds for those in progress, then prepared descriptors, registrations, and the
     * agent with its backends. Closing twice does nothing.
     *
     * @throws IllegalStateException if a transfer is still in progress then: agent and memory must stay; close it again
     *     later
     */
    @Override
    public void close() {
        FirstFailure failure = new FirstFailure();
        transfers.close(failure);
        registrations.open().forEach(each -> failure.in(each::close));
        failure.in(() -> {
            handle.close(() -> {
                transfers.requireNone();
                backends.free();
            });
            OPEN.remove(this);
        });
        failure.rethrow();
    }
}
