package io.kvtier.bindings.probe;

import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.cufile.generated.CuFileApi;
import io.kvtier.bindings.nixl.generated.NixlApi;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.PaddingLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** One native interface: its header, its include list and the class that jextract made of them. */
enum Api {
    CUDA(CudaApi.class),
    CUFILE(CuFileApi.class),
    NIXL(NixlApi.class),
    POSIX(PosixApi.class);

    static final Path HEADERS = Path.of(System.getProperty("basedir", "."))
            .resolve("../native-headers")
            .normalize();

    private final Class<?> generated;

    Api(Class<?> generated) {
        this.generated = generated;
    }

    String header() {
        return name().toLowerCase(Locale.ROOT);
    }

    Path probe() {
        return HEADERS.resolve("probe").resolve(header() + ".c");
    }

    /** Returns what the include list names: function, struct, typedef or constant. */
    SortedSet<String> included(String kind) {
        String option = "--include-" + kind + " ";
        try {
            return Files.readAllLines(HEADERS.resolve(header() + ".includes")).stream()
                    .filter(line -> line.startsWith(option))
                    .map(line -> line.substring(option.length()))
                    .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns what the generated classes say, in the words of the probe. */
    SortedMap<String, Long> generatedFacts() throws ReflectiveOperationException {
        SortedMap<String, Long> facts = new TreeMap<>();
        for (String constant : included("constant")) {
            facts.put(
                    "value " + constant, ((Number) generated.getMethod(constant).invoke(null)).longValue());
        }
        for (String struct : included("struct")) {
            GroupLayout layout =
                    (GroupLayout) generatedClass(struct).getMethod("layout").invoke(null);
            facts.put("size " + struct, layout.byteSize());
            addFields(struct, 0, layout, declaresTypes(struct), facts);
        }
        return facts;
    }

    Class<?> generatedClass(String name) throws ClassNotFoundException {
        return Class.forName(generated.getPackageName() + "." + name);
    }

    boolean hasFunction(String name) {
        return Arrays.stream(generated.getMethods())
                .anyMatch(method -> method.getName().equals(name + "$descriptor"));
    }

    /** Only the fields of types that a structure itself declares are told as its own. */
    private boolean declaresTypes(String struct) throws ClassNotFoundException {
        return generatedClass(struct).getDeclaredClasses().length > 0;
    }

    private static void addFields(
            String path, long base, GroupLayout group, boolean nested, SortedMap<String, Long> facts) {
        for (MemoryLayout member : group.memberLayouts()) {
            String name = member.name().orElse("");
            if (member instanceof PaddingLayout || name.startsWith("reserved")) {
                continue;
            }
            long offset = base + group.byteOffset(PathElement.groupElement(name));
            facts.put("offset " + path + "." + name, offset);
            facts.put("width " + path + "." + name, member.byteSize());
            if (nested && member instanceof GroupLayout inner) {
                addFields(path + "." + name, offset, inner, true, facts);
            }
        }
    }
}
