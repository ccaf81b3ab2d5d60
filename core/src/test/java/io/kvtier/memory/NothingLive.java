package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.bindings.NativeHandles;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropagationMode;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;

/**
 * Fails each test, test class and property that ends with native memory or handles that were not there before. The service
 * files make JUnit and jqwik use it everywhere; a test class needs to do nothing.
 */
public final class NothingLive
        implements BeforeAllCallback, AfterAllCallback, TestInstancePreConstructCallback, AfterEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(NothingLive.class);
    private static final String CLASS = "live before the class";
    private static final String TEST = "live before the test";

    @Override
    public void beforeAll(ExtensionContext context) {
        context.getStore(NAMESPACE).put(CLASS, live());
    }

    /** The test's own fields count, also those of the class around a nested one. */
    @Override
    public void preConstructTestInstance(TestInstanceFactoryContext factory, ExtensionContext context) {
        if (factory.getOuterInstance().isEmpty()) {
            context.getStore(NAMESPACE).put(TEST, live());
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        requireNoMoreThan(before(context, TEST), context.getUniqueId());
    }

    @Override
    public void afterAll(ExtensionContext context) {
        requireNoMoreThan(before(context, CLASS), context.getUniqueId());
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Long> before(ExtensionContext context, String key) {
        Map<String, Long> before = context.getStore(NAMESPACE).get(key, Map.class);
        return before == null ? Map.of() : before;
    }

    private static void requireNoMoreThan(Map<String, Long> before, String test) {
        assertThat(live())
                .as("live native memory (bytes) and handles after %s", test)
                .isEqualTo(before);
    }

    /** Returns the live bytes by purpose and the live handles by kind. */
    private static Map<String, Long> live() {
        Map<String, Long> live = new TreeMap<>(NativeHandles.live());
        NativeMemory.live().forEach((purpose, bytes) -> live.put(purpose + " bytes", bytes));
        return live;
    }

    /** The same for properties, which JUnit's extensions do not see. */
    public static final class AroundProperties implements AroundPropertyHook {
        @Override
        public PropertyExecutionResult aroundProperty(PropertyLifecycleContext context, PropertyExecutor property) {
            Map<String, Long> before = live();
            return property.executeAndFinally(() -> requireNoMoreThan(before, context.label()));
        }

        @Override
        public PropagationMode propagateTo() {
            return PropagationMode.ALL_DESCENDANTS;
        }
    }
}
