package io.kvtier.bindings.nixl;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How far a transfer reaches into each of its files. What its files are too short for was not moved, whatever NIXL says. */
final class FileExtents {
    /** Plugins whose files are files of this machine. */
    private static final Set<String> PLUGINS = Set.of("POSIX", "GDS", "GDS_MT");

    private record Extent(long device, @Nullable MemorySegment path, long end) {
        long length() {
            return path == null ? FileNative.length((int) device) : FileNative.length(path);
        }

        String name() {
            return path == null ? "file descriptor " + device : "file " + Path.of(path.getString(0));
        }
    }

    static final FileExtents NONE = new FileExtents(List.of());

    private final List<Extent> extents;

    private FileExtents(List<Extent> extents) {
        this.extents = extents;
    }

    static FileExtents of(Iterable<Descriptors.Entry> entries, Registrations registrations) {
        Map<Long, Long> ends = new LinkedHashMap<>();
        entries.forEach(entry -> ends.merge(entry.device(), entry.end(), Math::max));
        List<Extent> extents = new ArrayList<>(ends.size());
        ends.forEach((device, end) -> extents.add(new Extent(device, registrations.path(device), end)));
        return new FileExtents(extents);
    }

    static boolean canCheck(String plugin, Descriptors remote) {
        return remote.type() == MemoryType.FILE && PLUGINS.contains(plugin);
    }

    /** Throws if a file ends before the transfer does. A file of unknown length passes. Allocates nothing otherwise. */
    void check(String function, Operation operation) {
        for (int i = 0; i < extents.size(); i++) {
            Extent extent = extents.get(i);
            long length = extent.length();
            if (length != FileNative.UNKNOWN && length < extent.end()) {
                throw new NixlException(
                        function,
                        NixlStatus.SHORT,
                        operation + " up to byte " + extent.end() + " of " + extent.name() + ", which has " + length);
            }
        }
    }
}
