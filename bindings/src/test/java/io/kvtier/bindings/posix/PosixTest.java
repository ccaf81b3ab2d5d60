package io.kvtier.bindings.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class PosixTest {
    @TempDir
    Path folder;

    @Test
    void systemSaysWhatItHas() throws IOException {
        assertThat(Posix.availability().isAvailable()).isTrue();
        assertThat(Posix.pageBytes()).isPositive().matches(bytes -> Long.bitCount(bytes) == 1, "a power of two");
        String total = Files.readAllLines(Path.of("/proc/meminfo")).getFirst();
        assertThat(Posix.physicalBytes()).isEqualTo(1024 * Long.parseLong(total.replaceAll("[^0-9]", "")));
        assertThat(Posix.lockableBytes()).isNotNegative();
        assertThat(Posix.openFiles()).isPositive();
        assertThat(Posix.hugePageSizes())
                .allMatch(bytes -> Long.bitCount(bytes) == 1)
                .isSorted();
        assertThat(Posix.vectorsPerCall()).isGreaterThanOrEqualTo(16);
    }

    @Test
    void otherSystemsAreAbsentWithAReason() {
        assertThat(Posix.find("Mac OS X", "aarch64").toString()).contains("Mac OS X");
        assertThat(Posix.find("Linux", "riscv64").toString()).contains("riscv64");
        assertThat(Posix.find("Linux", "aarch64").isAvailable()).isTrue();
    }

    @Test
    void fileSystemsAreToldApart() throws Exception {
        assertThat(FileSystemInfo.of(Path.of("/dev/shm")).type()).isEqualTo(FileSystemInfo.Type.TMPFS);
        assertThat(FileSystemInfo.of(Path.of("/dev/shm")).typeName()).isEqualTo("tmpfs");
        FileSystemInfo proc = FileSystemInfo.of(Path.of("/proc"));
        assertThat(proc.type()).isEqualTo(FileSystemInfo.Type.OTHER);
        assertThat(proc.typeName()).isEqualTo("0x9fa0");
        assertThat(FileSystemInfo.type(0xef53)).isEqualTo(FileSystemInfo.Type.EXT4);
        assertThat(FileSystemInfo.type(0x9123683eL)).isEqualTo(FileSystemInfo.Type.BTRFS);
        FileSystemInfo disk = FileSystemInfo.of(folder);
        assertThat(disk.totalBytes()).isEqualTo(Files.getFileStore(folder).getTotalSpace());
        assertThat(disk.availableBytes()).isPositive().isLessThanOrEqualTo(disk.freeBytes());
        assertThat(disk.freeBytes()).isLessThanOrEqualTo(disk.totalBytes());
        assertThat(disk.blockBytes()).isPositive();
        assertThatThrownBy(() -> FileSystemInfo.of(folder.resolve("missing")))
                .isInstanceOf(PosixException.class)
                .hasMessageContaining("statfs failed with ENOENT (2)")
                .hasMessageContaining("missing");
    }
}
