package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.kvtier.memory.NativeMemory.Purpose;
import java.util.List;
import net.jqwik.api.Property;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;

/** The guard of all tests: what leaves memory behind fails, what cleans up passes. */
class NothingLiveTest {
    private static final long BYTES = 12_345;

    @AfterEach
    void cleanUp() {
        NativeMemory.count(Purpose.OTHER, -NativeMemory.liveBytes(Purpose.OTHER));
    }

    @Test
    void aTestThatLeavesMemoryBehindFails() {
        assertThat(failures("junit-jupiter", Leaking.class))
                .hasSize(2)
                .allSatisfy(message -> assertThat(message).contains("OTHER bytes", "12345"));
    }

    @Test
    void aClassThatLeavesMemoryBehindFails() {
        assertThat(failures("junit-jupiter", LeakingClass.class))
                .singleElement()
                .satisfies(message -> assertThat(message).contains("OTHER bytes", "12345"));
    }

    @Test
    void whatIsFreedInTimePasses() {
        assertThat(failures("junit-jupiter", Tidy.class)).isEmpty();
    }

    @Test
    void aPropertyThatLeavesMemoryBehindFails() {
        assertThat(failures("jqwik", LeakingProperty.class))
                .singleElement()
                .satisfies(message -> assertThat(message).contains("OTHER bytes", "12345"));
    }

    private static List<String> failures(String engine, Class<?> tests) {
        return EngineTestKit.engine(engine)
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
                .selectors(selectClass(tests))
                .execute()
                .allEvents()
                .finished()
                .stream()
                .map(event -> event.getRequiredPayload(TestExecutionResult.class))
                .flatMap(result -> result.getThrowable().stream())
                .map(Throwable::getMessage)
                .toList();
    }

    /** Fails itself and its class. */
    static class Leaking {
        @Test
        void leaks() {
            NativeMemory.count(Purpose.OTHER, BYTES);
        }
    }

    /** Fails the class only. */
    static class LeakingClass {
        @BeforeAll
        static void leaks() {
            NativeMemory.count(Purpose.OTHER, BYTES);
        }

        @Test
        void doesNot() {}
    }

    /** Frees what its fields, its class and its tests hold. */
    static class Tidy {
        Tidy() {
            NativeMemory.count(Purpose.OTHER, BYTES);
        }

        @BeforeAll
        static void beforeAll() {
            NativeMemory.count(Purpose.OTHER, BYTES);
        }

        @Test
        void one() {}

        @Test
        void two() {}

        @AfterEach
        void afterEach() {
            NativeMemory.count(Purpose.OTHER, -BYTES);
        }

        @AfterAll
        static void afterAll() {
            NativeMemory.count(Purpose.OTHER, -BYTES);
        }
    }

    /** Fails after its tries. */
    static class LeakingProperty {
        @Property(tries = 3)
        void leaks() {
            NativeMemory.count(Purpose.OTHER, BYTES / 3);
        }
    }
}
