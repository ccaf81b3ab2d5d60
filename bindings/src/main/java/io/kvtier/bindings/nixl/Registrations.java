package io.kvtier.bindings.nixl;

import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What is registered with an agent, and which number stands for which file or object. */
final class Registrations {
    /*
     * Files and objects are known by a number of the caller's choice, or by a file descriptor, and NIXL does not tell the
     * two apart: a number that stood for two files would send bytes to the wrong one. `meanings` holds what each number means
     * as long as it is registered.
     */
    private record Id(MemoryType type, long value) {}

    private record Place(long address, long length, long device) {
        Place(Descriptors.Entry entry) {
            this(entry.address(), entry.length(), entry.device());
        }
    }

    private static final class Meaning {
        final String metadata;
        final MemorySegment path;
        int users;

        Meaning(String metadata) {
            this.metadata = metadata;
            int colon = metadata.indexOf(':');
            path = colon < 0 ? MemorySegment.NULL : Arena.ofAuto().allocateFrom(metadata.substring(colon + 1));
        }
    }

    private final AgentHandle agent;
    private final Backends backends;
    private final Set<Registration> open = ConcurrentHashMap.newKeySet();
    private final Map<Id, Meaning> meanings = new HashMap<>();

    Registrations(AgentHandle agent, Backends backends) {
        this.agent = agent;
        this.backends = backends;
    }

    Registration register(Agent owner, Descriptors asked, List<Backend> users) {
        users.forEach(backends::require);
        Descriptors descriptors = asked.snapshot().requireFor(Descriptors.Use.ANY);
        descriptors.requireAlive();
        claim(descriptors);
        try {
            return agent.call((handle, arena) -> {
                int status = withList(
                        descriptors, users, arena, (list, args) -> NixlApi.nixl_capi_register_mem(handle, list, args));
                NixlStatus.check(
                        "register_mem", status, descriptors + "; is there a backend for it, and do its files open?");
                Registration registration = new Registration(owner, descriptors, users);
                open.add(registration);
                return registration;
            });
        } catch (RuntimeException e) {
            disclaim(descriptors);
            throw e;
        }
    }

    /** Ends a registration while no other call is made, unless something else speaks against it. */
    void deregister(Registration registration, List<Backend> users, Runnable check) {
        Descriptors descriptors = registration.descriptors();
        agent.runAlone((handle, arena) -> {
            check.run();
            open.remove(registration);
            disclaim(descriptors);
            int status = withList(
                    descriptors, users, arena, (list, args) -> NixlApi.nixl_capi_deregister_mem(handle, list, args));
            NixlStatus.check("deregister_mem", status, descriptors.toString());
        });
    }

    private interface Use {
        int with(MemorySegment list, MemorySegment args);
    }

    private static int withList(Descriptors descriptors, List<Backend> users, Arena arena, Use use) {
        return NativeLists.withRegistrationList(
                descriptors,
                arena,
                list -> NativeLists.withOptions(users, TransferOptions.DEFAULT, arena, args -> use.with(list, args)));
    }

    List<Registration> open() {
        return List.copyOf(open);
    }

    /** Throws unless each descriptor is registered as it is: NIXL leaves out silently what it does not know. */
    void requireRegistered(Descriptors descriptors) {
        Set<Place> known = new HashSet<>();
        for (Registration registration : open) {
            if (registration.descriptors().type() == descriptors.type()) {
                registration.descriptors().entries().forEach(entry -> known.add(new Place(entry)));
            }
        }
        for (Descriptors.Entry entry : descriptors.entries()) {
            if (!known.contains(new Place(entry))) {
                throw new IllegalArgumentException(entry.length() + " bytes of type " + descriptors.type() + " at 0x"
                        + Long.toHexString(entry.address()) + " are not registered as such");
            }
        }
    }

    /** Returns the path that a number stands for, or null if it is a file descriptor. */
    synchronized @Nullable MemorySegment path(long device) {
        Meaning known = meanings.get(new Id(MemoryType.FILE, device));
        return known == null || known.path.equals(MemorySegment.NULL) ? null : known.path;
    }

    private synchronized void claim(Descriptors descriptors) {
        if (!isNumbered(descriptors)) {
            return;
        }
        Map<Id, String> asked = new HashMap<>();
        for (Descriptors.Entry entry : descriptors.entries()) {
            Id number = new Id(descriptors.type(), entry.device());
            Meaning known = meanings.get(number);
            String other = known == null ? asked.get(number) : known.metadata;
            if (other != null && !other.equals(entry.metadata())) {
                throw new IllegalArgumentException("number " + entry.device() + " stands for " + meaning(other)
                        + " already, it cannot stand for " + meaning(entry.metadata()));
            }
            asked.put(number, entry.metadata());
        }
        asked.forEach((number, metadata) -> meanings.computeIfAbsent(number, _ -> new Meaning(metadata)).users++);
    }

    private synchronized void disclaim(Descriptors descriptors) {
        if (isNumbered(descriptors)) {
            descriptors.entries().stream()
                    .map(entry -> new Id(descriptors.type(), entry.device()))
                    .distinct()
                    .forEach(number ->
                            meanings.computeIfPresent(number, (_, meaning) -> --meaning.users == 0 ? null : meaning));
        }
    }

    private static boolean isNumbered(Descriptors descriptors) {
        return descriptors.type() == MemoryType.FILE || descriptors.type() == MemoryType.OBJECT;
    }

    private static String meaning(String metadata) {
        return metadata.isEmpty() ? "an open file descriptor" : "'" + metadata + "'";
    }
}
