package io.kvtier.bindings.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.FetchedNatives;
import io.kvtier.bindings.cuda.Cuda;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(FetchedNatives.class)
class CuFileTest {
    @Test
    void libraryIsFoundWithItsVersion() {
        assertThat(CuFile.availability()).isInstanceOf(Availability.Present.class);
        assertThat(CuFile.availability().toString()).matches("cuFile 1\\.\\d+ \\(.*libcufile\\.so\\.0\\)");
    }

    @Test
    void obstaclesNameTheMissingDevice() {
        if (Cuda.devices() instanceof Availability.Absent absent) {
            assertThat(CuFile.obstacles()).contains(absent.reason());
        } else {
            assertThat(CuFile.obstacles()).noneMatch(obstacle -> obstacle.contains("driver; install"));
        }
    }
}
