package io.kvtier.bindings;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Where native code is linked, and what of it may be seen from outside. */
class ArchitectureTest {
    private static final String ROOT = "io.kvtier.bindings";

    /** From the top: a package may use those below it, and never its neighbours. */
    private static final List<Set<String>> ROWS = List.of(Set.of("nixl"), Set.of("cufile"), Set.of("cuda", "posix"));

    private static final DescribedPredicate<JavaClass> MAY_LINK = describe(
            "are *Native classes, internal or generated",
            type -> outermost(type).getSimpleName().endsWith("Native") || isHidden(type));

    private static final JavaClasses CLASSES = new ClassFileImporter().importPath(Path.of("target", "classes"));

    @Test
    void classesAreThere() {
        assertThat(CLASSES).hasSizeGreaterThan(60);
    }

    @Test
    void noMethodIsNative() {
        methods().should().notHaveModifier(JavaModifier.NATIVE).check(CLASSES);
        mayNotUse("java.lang.System", Set.of("load", "loadLibrary"));
        mayNotUse("java.lang.Runtime", Set.of("load", "loadLibrary"));
    }

    @Test
    void onlyNativeClassesAndInternalLinkFunctions() {
        noClasses()
                .that(DescribedPredicate.not(MAY_LINK))
                .should()
                .dependOnClassesThat()
                .areAssignableTo(Linker.class)
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(Linker.Option.class)
                .check(CLASSES);
    }

    @Test
    void onlyInternalAndGeneratedClassesLookSymbolsUp() {
        noClasses()
                .that(describe("are neither internal nor generated", type -> !isHidden(type)))
                .should()
                .callMethodWhere(describe(
                        "SymbolLookup.libraryLookup or loaderLookup",
                        call -> call.getTargetOwner().isEquivalentTo(SymbolLookup.class)
                                && call.getName().endsWith("Lookup")))
                .check(CLASSES);
    }

    @Test
    void packagesUseOnlyWhatStandsBelow() {
        Set<String> violations = new TreeSet<>();
        for (JavaClass type : CLASSES) {
            type.getDirectDependenciesFromSelf().forEach(dependency -> {
                int from = row(type.getPackageName());
                int to = row(dependency.getTargetClass().getBaseComponentType().getPackageName());
                if (from >= 0
                        && to >= 0
                        && to <= from
                        && !api(type.getPackageName())
                                .equals(api(dependency.getTargetClass().getPackageName()))) {
                    violations.add(dependency.getDescription());
                }
            });
        }
        assertThat(violations).isEmpty();
    }

    @Test
    void whatUsersSeeNamesNoGeneratedType() {
        Set<String> violations = new TreeSet<>();
        for (JavaClass type : CLASSES) {
            if (!isHidden(type) && type.getModifiers().contains(JavaModifier.PUBLIC)) {
                type.getMethods().stream()
                        .filter(method -> method.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(method -> signature(method).anyMatch(ArchitectureTest::isHidden))
                        .forEach(method -> violations.add(method.getFullName()));
            }
        }
        assertThat(violations).isEmpty();
    }

    @Test
    void nothingSleepsOrPrints() {
        mayNotUse("java.lang.Thread", Set.of("sleep"));
        mayNotUse("java.lang.Throwable", Set.of("printStackTrace"));
    }

    private static Stream<JavaClass> signature(JavaMethod method) {
        return Stream.concat(
                method.getRawParameterTypes().stream(),
                Stream.concat(
                        Stream.of(method.getRawReturnType()),
                        method.getExceptionTypes().stream().map(type -> type.toErasure())));
    }

    private static void mayNotUse(String owner, Set<String> members) {
        DescribedPredicate<JavaAccess<?>> predicate = describe(
                owner + " " + members,
                access -> access.getTargetOwner().isAssignableTo(owner) && members.contains(access.getName()));
        noClasses().should().accessTargetWhere(predicate).check(CLASSES);
    }

    private static boolean isHidden(JavaClass type) {
        String name = type.getPackageName();
        return name.equals(ROOT + ".internal") || name.endsWith(".generated");
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
    }

    /** Returns the row of a library's package, generated classes included; -1 for the others. */
    private static int row(String packageName) {
        for (int row = 0; row < ROWS.size(); row++) {
            if (ROWS.get(row).contains(api(packageName))) {
                return row;
            }
        }
        return -1;
    }

    private static String api(String packageName) {
        return packageName.startsWith(ROOT + ".")
                ? packageName.substring(ROOT.length() + 1).split("\\.", -1)[0]
                : "";
    }
}
