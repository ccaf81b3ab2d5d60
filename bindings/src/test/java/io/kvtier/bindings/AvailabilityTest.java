package io.kvtier.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class AvailabilityTest {
    @Test
    void presentNamesVersionAndPlace() {
        Availability nixl = Availability.present("NIXL", "/opt/libnixl.so", "1.5.1");
        assertThat(nixl.isAvailable()).isTrue();
        assertThat(nixl).hasToString("NIXL 1.5.1 (/opt/libnixl.so)");
    }

    @Test
    void absentNamesTheReason() {
        Availability cuda = Availability.absent("CUDA", "no driver; install one of version 525 or newer");
        assertThat(cuda.isAvailable()).isFalse();
        assertThat(cuda).hasToString("CUDA is not available: no driver; install one of version 525 or newer");
    }

    @Test
    void absentWithoutReasonIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Availability.absent("CUDA", " "));
    }
}
