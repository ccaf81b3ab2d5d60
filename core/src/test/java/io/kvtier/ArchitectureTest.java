package io.kvtier;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.ObjectInputStream;
import java.lang.foreign.Linker;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Who may import whom, and what nobody may do. */
class ArchitectureTest {
    private static final String ROOT = "io.kvtier";
    private static final String BINDINGS = "bindings";

    /** From the top: a package may import packages of lower rows, never its own row. "" is the facade. */
    private static final List<Set<String>> ROWS = List.of(
            Set.of("config"),
            Set.of(""),
            Set.of("store"),
            Set.of("tier", "transfer"),
            Set.of("codec", "policy"),
            Set.of("event", "metrics"),
            Set.of("object", "token"),
            Set.of("layout", "memory"),
            Set.of(BINDINGS));

    /** The packages that may use native access. */
    private static final Set<String> NATIVE = Set.of(
            ROOT + ".memory",
            ROOT + ".transfer",
            ROOT + ".tier.file",
            ROOT + ".tier.gds",
            ROOT + ".tier.nixl",
            ROOT + ".tier.peer");

    private static final JavaClasses CLASSES = new ClassFileImporter().importPath(Path.of("target", "classes"));

    @Test
    void everyPackageHasARow() {
        assertThat(CLASSES).hasSizeGreaterThan(40);
        for (JavaClass type : CLASSES) {
            assertThat(row(slice(type.getPackageName()))).as(type.getName()).isNotNegative();
        }
    }

    @Test
    void packagesImportOnlyWhatStandsBelow() {
        Set<String> violations = new TreeSet<>();
        for (JavaClass type : CLASSES) {
            for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                String from = slice(type.getPackageName());
                String to =
                        slice(dependency.getTargetClass().getBaseComponentType().getPackageName());
                if (to != null && !to.equals(from) && row(to) <= row(from)) {
                    violations.add(dependency.getDescription());
                }
            }
        }
        assertThat(violations).isEmpty();
    }

    @Test
    void onlySomePackagesUseTheBindings() {
        noClasses()
                .that(describe("may not use native access", type -> !NATIVE.contains(type.getPackageName())))
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ROOT + "." + BINDINGS + "..")
                .check(CLASSES);
    }

    @Test
    void slicesHaveNoCycles() {
        slices().assignedFrom(new Slices()).should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void nothingLinksForeignFunctions() {
        noClasses().should().dependOnClassesThat().areAssignableTo(Linker.class).check(CLASSES);
        methods().should().notHaveModifier(JavaModifier.NATIVE).check(CLASSES);
    }

    @Test
    void nothingReinterpretsMemory() {
        mayNotUse("java.lang.foreign.MemorySegment", Set.of("reinterpret"));
    }

    /** Native memory is counted: others get their arenas from NativeMemory. */
    @Test
    void onlyMemoryOpensArenas() {
        noClasses()
                .that(describe(
                        "are not of memory", type -> !type.getPackageName().equals(ROOT + ".memory")))
                .should()
                .accessTargetWhere(
                        accessTo("java.lang.foreign.Arena", Set.of("ofShared", "ofConfined", "ofAuto", "global")))
                .check(CLASSES);
    }

    @Test
    void nothingLooksClassesUpByName() {
        mayNotUse("java.lang.Class", Set.of("forName"));
        mayNotUse("java.lang.ClassLoader", Set.of("loadClass"));
        mayNotUse("java.lang.System", Set.of("load", "loadLibrary"));
    }

    @Test
    void nothingDeserializes() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .areAssignableTo(ObjectInputStream.class)
                .check(CLASSES);
        noMethods().should().haveName("readObject").allowEmptyShould(true).check(CLASSES);
    }

    @Test
    void nothingPrints() {
        mayNotUse("java.lang.System", Set.of("out", "err"));
        mayNotUse("java.lang.Throwable", Set.of("printStackTrace"));
    }

    @Test
    void nothingSleeps() {
        mayNotUse("java.lang.Thread", Set.of("sleep"));
    }

    private static void mayNotUse(String owner, Set<String> members) {
        noClasses().should().accessTargetWhere(accessTo(owner, members)).check(CLASSES);
    }

    private static DescribedPredicate<JavaAccess<?>> accessTo(String owner, Set<String> members) {
        return describe(
                owner + " " + members,
                access -> access.getTargetOwner().isAssignableTo(owner) && members.contains(access.getName()));
    }

    /** Returns the part of a package that has a row, or null for packages of others. */
    private static String slice(String packageName) {
        if (packageName.equals(ROOT)) {
            return "";
        }
        if (!packageName.startsWith(ROOT + ".")) {
            return null;
        }
        return packageName.substring(ROOT.length() + 1).split("\\.", -1)[0];
    }

    private static int row(String slice) {
        for (int row = 0; row < ROWS.size(); row++) {
            if (slice != null && ROWS.get(row).contains(slice)) {
                return row;
            }
        }
        return -1;
    }

    /** One slice for each package below the root, with the packages in it. */
    private static final class Slices implements SliceAssignment {
        @Override
        public String getDescription() {
            return "packages below " + ROOT;
        }

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            String slice = slice(type.getPackageName());
            return slice == null ? SliceIdentifier.ignore() : SliceIdentifier.of(ROOT + "." + slice);
        }
    }
}
