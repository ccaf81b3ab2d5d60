package io.kvtier.bindings.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.FetchedNatives;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cuda.Cuda;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(FetchedNatives.class)
class CuFileTest {
    @AfterEach
    void nothingIsLive() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void libraryIsFoundWithItsVersion() {
        assertThat(CuFile.availability()).isInstanceOf(Availability.Present.class);
        assertThat(CuFile.availability().toString()).matches("cuFile 1\\.\\d+ \\(.*libcufile\\.so\\.0\\)");
    }

    @Test
    void theWayNamesTheMissingDevice() {
        if (Cuda.devices() instanceof Availability.Absent absent) {
            assertThat(CuFile.ioPath().reasons()).contains(absent.reason());
            assertThat(CuFile.ioPath().isDirect()).isFalse();
        } else {
            assertThat(CuFile.ioPath().reasons()).noneMatch(reason -> reason.contains("driver; install"));
        }
    }
}
