package io.kvtier.bindings.probe;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Headers and libraries of the vendors for one major version of CUDA, taken from the wheels that scripts/fetch-natives pins
 * and kept outside the repository: below {@code KVTIER_NATIVES_DIR} or in {@code ~/.cache/kvtier}, in {@code
 * probe-headers}.
 */
public record VendorWheels(int cuda, Path folder) {
    private static final Map<String, String> LIBRARIES = Map.of(
            "libcudart.so.12", "libcudart.so",
            "libcudart.so.13", "libcudart.so",
            "libcufile.so.0", "libcufile.so",
            "libnixl_capi.so", "libnixl_capi.so");

    /** Returns cuFile for a major version of CUDA. */
    public static Path cuFile(int cuda) throws IOException {
        return fetch(cuda).library(Api.CUFILE);
    }

    /** Fetches the wheels unless they are there; fails with one sentence that says why. */
    static VendorWheels fetch(int cuda) throws IOException {
        List<Path> pins = List.of(
                Api.HEADERS.resolve("../scripts/natives/cuda" + cuda + ".txt").normalize(),
                Api.HEADERS.resolve("probe/cuda" + cuda + ".txt"));
        Path cache = cache();
        Path folder = cache.resolve("cuda" + cuda + "-" + fingerprint(pins));
        if (!Files.isDirectory(folder)) {
            Files.createDirectories(cache);
            Path scratch = Files.createTempDirectory(cache, ".fetch-");
            try {
                download(pins, scratch);
                keep(scratch, folder);
            } finally {
                deleteTree(scratch);
            }
        }
        return new VendorWheels(cuda, folder);
    }

    Path includeFolder() {
        return folder.resolve("include");
    }

    /** Returns the library that exports an interface. */
    Path library(Api api) {
        return folder.resolve(
                switch (api) {
                    case CUDA -> "libcudart.so";
                    case CUFILE -> "libcufile.so";
                    case NIXL -> "libnixl_capi.so";
                    case POSIX -> throw new IllegalArgumentException("the C library comes in no wheel");
                });
    }

    private static Path cache() {
        String natives = System.getenv("KVTIER_NATIVES_DIR");
        Path base = natives == null ? Path.of(System.getProperty("user.home"), ".cache", "kvtier") : Path.of(natives);
        return base.resolve("probe-headers");
    }

    private static String fingerprint(List<Path> pins) throws IOException {
        CRC32 crc = new CRC32();
        for (Path file : pins) {
            crc.update(Files.readAllBytes(file));
        }
        return HexFormat.of().toHexDigits((int) crc.getValue());
    }

    private static void download(List<Path> pins, Path folder) throws IOException {
        List<String> command = new ArrayList<>(List.of("python3", "-m", "pip", "download", "--quiet"));
        command.addAll(List.of("--disable-pip-version-check", "--retries", "1", "--timeout", "15", "--no-deps"));
        command.addAll(List.of("--only-binary", ":all:", "--require-hashes"));
        command.addAll(List.of("--implementation", "cp", "--python-version", "3.11"));
        String machine = System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
        for (String tag :
                List.of("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014", "manylinux2010")) {
            command.addAll(List.of("--platform", tag + "_" + machine));
        }
        for (Path file : pins) {
            command.addAll(List.of("-r", file.toString()));
        }
        command.addAll(List.of("--dest", folder.toString()));
        Command.Result pip = Command.run(command);
        if (!pip.ok()) {
            throw new IOException("pip got no wheels: " + pip.lastLine());
        }
    }

    /** Unpacks beside the wheels and moves the result to its place, complete or not at all. */
    private static void keep(Path scratch, Path folder) throws IOException {
        List<Path> wheels;
        try (Stream<Path> files = Files.list(scratch)) {
            wheels = files.filter(file -> file.toString().endsWith(".whl")).toList();
        }
        Path unpacked = Files.createDirectory(scratch.resolve("unpacked"));
        for (Path wheel : wheels) {
            try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(wheel))) {
                for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                    unpack(entry.getName(), zip, unpacked);
                }
            }
        }
        try {
            Files.move(unpacked, folder, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileAlreadyExistsException | DirectoryNotEmptyException e) {
            // another run was faster
        }
    }

    private static void unpack(String name, InputStream content, Path folder) throws IOException {
        int include = name.indexOf("/include/");
        String library = LIBRARIES.get(name.substring(name.lastIndexOf('/') + 1));
        Path target;
        if (library != null) {
            target = folder.resolve(library);
        } else if (include >= 0 && name.matches("nvidia/.*\\.(h|hpp)")) {
            target = folder.resolve(name.substring(include + 1)).normalize();
        } else {
            return;
        }
        if (!target.startsWith(folder)) {
            throw new IOException("a wheel holds " + name);
        }
        Files.createDirectories(target.getParent());
        Files.copy(content, target);
    }

    private static void deleteTree(Path root) throws IOException {
        try (Stream<Path> tree = Files.walk(root)) {
            tree.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
