package io.kvtier.bindings.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.bindings.NativeHandles;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class SharedMemoryTest {
    private final String prefix = "kvtier-test-" + ProcessHandle.current().pid() + "-";
    private final String name = prefix + "a";

    @AfterEach
    void nothingIsLeft() {
        SharedMemory.names(prefix).forEach(SharedMemory::unlink);
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void twoMappingsSeeOneMemory() {
        try (SharedMemory made = SharedMemory.create(name, 100_000);
                MappedMemory writable = made.map(true);
                SharedMemory opened = SharedMemory.open(name, false);
                MappedMemory readable = opened.map(false)) {
            assertThat(opened.bytes()).isEqualTo(100_000);
            assertThat(opened.name()).isEqualTo(name);
            writable.segment().set(ValueLayout.JAVA_BYTE, 99_999, (byte) 8);
            assertThat(readable.segment().get(ValueLayout.JAVA_BYTE, 99_999)).isEqualTo((byte) 8);
            assertThatThrownBy(() -> opened.map(true)).hasMessageContaining("mmap failed with EACCES");
        }
    }

    @Test
    void mappingOutlivesHandleAndName() {
        SharedMemory made = SharedMemory.create(name, 4096);
        MappedMemory memory = made.map(true);
        made.close();
        made.close();
        assertThatThrownBy(made::bytes).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> made.map(true)).isInstanceOf(IllegalStateException.class);
        assertThat(SharedMemory.unlink(name)).isTrue();
        assertThat(SharedMemory.unlink(name)).isFalse();
        memory.segment().fill((byte) 1);
        memory.close();
        assertThatThrownBy(() -> SharedMemory.open(name, true))
                .isInstanceOf(PosixException.class)
                .hasMessageContaining("shm_open failed with ENOENT")
                .hasMessageContaining(name);
    }

    @Test
    void namesAreFoundByPrefix() throws Exception {
        SharedMemory.create(prefix + "b", 1).close();
        SharedMemory.create(prefix + "a", 1).close();
        assertThat(SharedMemory.names(prefix)).isEqualTo(List.of(prefix + "a", prefix + "b"));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(Path.of("/dev/shm", prefix + "a"))))
                .isEqualTo("rw-------");
    }

    @Test
    void takenNameIsRefused() {
        SharedMemory.create(name, 1).close();
        assertThatThrownBy(() -> SharedMemory.create(name, 1))
                .isInstanceOf(PosixException.class)
                .hasMessageContaining("EEXIST");
    }

    @Test
    void tooMuchIsRefusedWhenItIsReserved() {
        long most = FileSystemInfo.of(Path.of("/dev/shm")).totalBytes();
        try (SharedMemory made = SharedMemory.create(name, 2 * most)) {
            made.reserve(4096, 8192);
            assertThatThrownBy(() -> made.reserve(0, 2 * most))
                    .isInstanceOf(PosixException.class)
                    .hasMessageContaining("fallocate failed with ENOSPC");
            assertThatThrownBy(() -> made.reserve(0, 2 * most + 1)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void badNamesAndSizesAreRefused() {
        for (String bad : List.of("", "a/b", "/a", ".", "..", "a\0b", "x".repeat(251), "\u00fc".repeat(126))) {
            assertThatThrownBy(() -> SharedMemory.create(bad, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> SharedMemory.open(bad, false)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> SharedMemory.unlink(bad)).isInstanceOf(IllegalArgumentException.class);
        }
        SharedMemory.create(prefix + "x".repeat(250 - prefix.length()), 1).close();
        assertThatThrownBy(() -> SharedMemory.create(name, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThat(SharedMemory.unlink(name))
                .as("what was refused leaves no name")
                .isFalse();
    }
}
