package io.kvtier.bindings.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.kvtier.bindings.internal.NativeLibraries;
import io.kvtier.bindings.probe.Compiler.Source;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Our headers say what the vendors' say, and the generated classes say what our headers say. */
class NativeProbeTest {
    /** The newest major version, whose declarations ours are. */
    private static final int NEWEST = 13;
    /** Structures that end where the vendor's version says; ours have room for any. */
    private static final Set<String> ROOMY = Set.of("cudaDeviceProp", "cudaPointerAttributes", "CUfileStatsLevel1");
    /** What one major version has and another has not. */
    private static final Map<Integer, Set<String>> ABSENT_FUNCTIONS = Map.of(
            12,
                    Set.of(
                            "cuFileReadv",
                            "cuFileWritev",
                            "cuFileSetStatsLevel",
                            "cuFileStatsStart",
                            "cuFileStatsStop",
                            "cuFileStatsReset",
                            "cuFileGetStatsL1"),
            13, Set.of("cudaGetDeviceProperties_v2"));
    /** The header of 12 renames this one to its second version; the library has both. */
    private static final String RENAMED_IN_12 = "cudaGetDeviceProperties";

    private static final List<String> MISSING = new ArrayList<>();
    private static final List<VendorWheels> VENDORS = new ArrayList<>();
    private static boolean gcc;

    @TempDir
    static Path scratch;

    @BeforeAll
    static void fetch() {
        gcc = Compiler.isPresent();
        if (!gcc) {
            MISSING.add("gcc on Linux");
            return;
        }
        for (int cuda : new int[] {12, 13}) {
            try {
                VENDORS.add(VendorWheels.fetch(cuda));
            } catch (IOException e) {
                MISSING.add("vendor headers of CUDA " + cuda + " (" + e.getMessage() + ")");
            }
        }
    }

    /** The one place that says what the tests below could not do. */
    @Test
    void nothingIsSkipped() {
        assumeTrue(
                MISSING.isEmpty(),
                () -> "native declarations were not compared with all vendors: no " + String.join(", no ", MISSING));
    }

    @TestFactory
    Stream<DynamicTest> generatedClassesAgreeWithOurHeaders() {
        return gcc
                ? Stream.of(Api.values()).map(api -> dynamicTest(api.header(), () -> checkGenerated(api)))
                : Stream.of();
    }

    private static void checkGenerated(Api api) throws ReflectiveOperationException {
        SortedMap<String, Long> generated = api.generatedFacts();
        for (String struct : ROOMY) {
            if (generated.remove("size " + struct) != null) {
                generated.put("room " + struct, 1L);
            }
        }
        assertSame(Compiler.facts(api, Source.own(NEWEST), scratch), generated);
    }

    @ParameterizedTest
    @EnumSource
    void everythingIncludedIsGenerated(Api api) throws ClassNotFoundException {
        assertThat(api.included("function")).isNotEmpty().allMatch(api::hasFunction);
        for (String type : api.included("typedef")) {
            assertThat(api.generatedClass(type)).isNotNull();
        }
    }

    @TestFactory
    Stream<DynamicTest> vendorsAgreeOnLayoutsAndConstants() {
        return ofVendors(
                (api, vendor) -> assertSame(
                        Compiler.facts(api, source(vendor), scratch),
                        Compiler.facts(api, Source.own(vendor.cuda()), scratch)),
                Api.CUDA,
                Api.CUFILE);
    }

    @TestFactory
    Stream<DynamicTest> vendorsAgreeOnPrototypes() {
        return ofVendors(
                (api, vendor) -> {
                    SortedMap<String, String> own = Compiler.prototypes(api, Source.own(vendor.cuda()), scratch);
                    own.keySet().retainAll(declared(api, vendor));
                    if (vendor.cuda() == 12) {
                        own.remove(RENAMED_IN_12);
                    }
                    assertThat(own).isNotEmpty();
                    assertThat(Compiler.prototypes(api, source(vendor), scratch))
                            .containsAllEntriesOf(own);
                },
                Api.CUDA,
                Api.CUFILE);
    }

    @TestFactory
    Stream<DynamicTest> vendorsExportWhatWeDeclare() {
        return ofVendors(
                (api, vendor) -> assertThat(exported(vendor.library(api))).containsAll(declared(api, vendor)),
                Api.CUDA,
                Api.CUFILE,
                Api.NIXL);
    }

    /** The C library is compared with the headers of this machine. */
    @TestFactory
    Stream<DynamicTest> theCLibraryAgrees() {
        if (!gcc) {
            return Stream.of();
        }
        Source vendor = Source.vendor(NEWEST, List.of());
        return Stream.of(
                dynamicTest("layouts and constants", () -> {
                    SortedMap<String, Long> own = Compiler.facts(Api.POSIX, Source.own(NEWEST), scratch);
                    String other = System.getProperty("os.arch").equals("aarch64") ? "_x86_64" : "_aarch64";
                    own.keySet().removeIf(fact -> fact.endsWith(other));
                    assertSame(Compiler.facts(Api.POSIX, vendor, scratch), own);
                }),
                dynamicTest("prototypes", () -> checkPosixPrototypes(vendor)),
                dynamicTest(
                        "symbols",
                        () -> assertThat(Api.POSIX.included("function"))
                                .allMatch(name -> NativeLibraries.lookup("posix")
                                        .find(name)
                                        .isPresent())));
    }

    private static void checkPosixPrototypes(Source vendor) {
        SortedMap<String, String> own = Compiler.prototypes(Api.POSIX, Source.own(NEWEST), scratch);
        SortedMap<String, String> theirs = Compiler.prototypes(Api.POSIX, vendor, scratch);
        own.keySet().retainAll(Api.POSIX.included("function"));
        Set<String> variadic = own.keySet().stream()
                .filter(name -> String.valueOf(theirs.get(name)).endsWith(", ...)"))
                .collect(Collectors.toSet());
        assertThat(variadic).containsExactlyInAnyOrder("open", "ioctl", "syscall");
        own.forEach((name, prototype) -> {
            String wanted = theirs.get(name);
            if (variadic.contains(name)) {
                assertThat(prototype).as(name).startsWith(wanted.substring(0, wanted.length() - "...)".length()));
            } else {
                assertThat(prototype).as(name).isEqualTo(wanted);
            }
        });
    }

    /** Like isEqualTo, but tells only what differs. */
    private static void assertSame(SortedMap<String, Long> actual, SortedMap<String, Long> expected) {
        Set<String> names = new TreeSet<>(actual.keySet());
        names.addAll(expected.keySet());
        assertThat(names).hasSizeGreaterThan(30);
        assertThat(names.stream()
                        .filter(name -> !Objects.equals(actual.get(name), expected.get(name)))
                        .map(name -> name + " is " + actual.get(name) + " instead of " + expected.get(name)))
                .isEmpty();
    }

    private interface Check {
        void run(Api api, VendorWheels vendor);
    }

    private static Stream<DynamicTest> ofVendors(Check check, Api... apis) {
        return VENDORS.stream()
                .flatMap(vendor -> Stream.of(apis)
                        .map(api -> dynamicTest(
                                api.header() + " for CUDA " + vendor.cuda(), () -> check.run(api, vendor))));
    }

    private static Source source(VendorWheels vendor) {
        return Source.vendor(vendor.cuda(), List.of(vendor.includeFolder()));
    }

    private static Set<String> declared(Api api, VendorWheels vendor) {
        Set<String> declared = api.included("function");
        declared.removeAll(ABSENT_FUNCTIONS.get(vendor.cuda()));
        return declared;
    }

    private static Set<String> exported(Path library) {
        return Command.output(List.of("nm", "-D", "--defined-only", library.toString()))
                .lines()
                .map(line -> line.substring(line.lastIndexOf(' ') + 1).replaceFirst("@.*", ""))
                .collect(Collectors.toSet());
    }
}
