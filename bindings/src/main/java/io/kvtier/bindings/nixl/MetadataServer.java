package io.kvtier.bindings.nixl;

import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Where agents find each other's metadata: at an agent that listens, or at a store that all know. */
public final class MetadataServer {
    private static final MetadataServer STORE = new MetadataServer(null);

    private final @Nullable InetSocketAddress address;

    private MetadataServer(@Nullable InetSocketAddress address) {
        this.address = address;
    }

    /**
     * Returns an agent that was created with {@link AgentConfig#listening}.
     *
     * @throws IllegalArgumentException if the address is not resolved, not of IPv4, or has no port
     */
    public static MetadataServer agentAt(InetSocketAddress address) {
        Objects.requireNonNull(address, "address");
        if (!(address.getAddress() instanceof Inet4Address) || address.getPort() == 0) {
            throw new IllegalArgumentException("NIXL needs a resolved IPv4 address and a port, got " + address);
        }
        return new MetadataServer(address);
    }

    /**
     * Returns the store that the variable NIXL_ETCD_ENDPOINTS or NIXL_TCPSTORE_ENDPOINT names; it must be set before the
     * process starts.
     */
    public static MetadataServer store() {
        return STORE;
    }

    /** Returns the agent's address, or null for the store. */
    @Nullable
    InetSocketAddress address() {
        return address;
    }

    @Override
    public String toString() {
        return address == null ? "the metadata store" : "the agent at " + address;
    }
}
