package io.kvtier.bindings.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibrarySearchTest {
    private static final String PROPERTY = "kvtier.demo.path";

    @TempDir
    Path folder;

    @AfterEach
    void forget() {
        System.clearProperty(PROPERTY);
    }

    @Test
    void libraryInAFolderIsOpened() throws Exception {
        compile("int kvtier_demo(void) { return 42; }", "libdemo.so");
        LibrarySearch.Result result = search(folder.toString()).run();
        assertThat(result).isInstanceOf(LibrarySearch.Result.Found.class);
        SharedLibrary library = ((LibrarySearch.Result.Found) result).library();
        assertThat(library.find("kvtier_demo")).isPresent();
        assertThat(library.missing(List.of("kvtier_demo", "kvtier_other"))).containsExactly("kvtier_other");
    }

    @Test
    void explicitPathWinsAndIsNeverReplaced() throws Exception {
        compile("int kvtier_demo(void) { return 42; }", "libdemo.so");
        System.setProperty(PROPERTY, folder.resolve("nowhere.so").toString());
        assertThat(reason(search(folder.toString())))
                .contains("nowhere.so was not found", "it was named by kvtier.demo.path");
    }

    @Test
    void textFileIsNoLibrary() throws IOException {
        Path text =
                Files.writeString(folder.resolve("libdemo.so"), "this is no library at all, only some text in a file");
        assertThat(reason(search(folder.toString()))).contains(text + " is no library");
    }

    @Test
    void libraryOfAnotherArchitectureIsNamed() throws IOException {
        byte[] header = Files.readAllBytes(Path.of("/proc/self/exe"));
        // Byte 18 of an ELF file is the machine; no machine has this number.
        header[18] = 0x7B;
        header[19] = 0x7B;
        Files.write(folder.resolve("libdemo.so"), java.util.Arrays.copyOf(header, 4096));
        assertThat(reason(search(folder.toString()))).contains("for another architecture");
    }

    @Test
    void missingDependencyIsNamed() throws Exception {
        compile("int kvtier_base(void) { return 1; }", "libkvtierbase.so");
        compile(
                "int kvtier_base(void); int kvtier_demo(void) { return kvtier_base(); }",
                "libdemo.so",
                "-L" + folder,
                "-lkvtierbase");
        Files.delete(folder.resolve("libkvtierbase.so"));
        assertThat(reason(search(folder.toString()))).contains("needs libkvtierbase.so, which was not found");
    }

    @Test
    void nothingFoundSaysWhereItWasLookedForAndWhatToDo() {
        assertThat(reason(search(folder.resolve("empty").toString())))
                .contains(
                        "libdemo.so was found neither", folder.resolve("empty").toString(), "install the demo");
    }

    private static LibrarySearch search(String... folders) {
        return new LibrarySearch(
                "demo", "Demo", List.of("libdemo.so"), List.of("demo"), List.of(folders), "install the demo");
    }

    private static String reason(LibrarySearch search) {
        LibrarySearch.Result result = search.run();
        assertThat(result).isInstanceOf(LibrarySearch.Result.Missing.class);
        return ((LibrarySearch.Result.Missing) result).availability().reason();
    }

    private void compile(String source, String library, String... options) throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve(library + ".c"), source);
        List<String> command = new java.util.ArrayList<>(
                List.of("gcc", "-shared", "-fPIC", "-o", folder.resolve(library).toString(), file.toString()));
        command.addAll(List.of(options));
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "gcc is not installed");
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
    }
}
