package io.kvtier.bindings.cufile;

import io.kvtier.bindings.cufile.generated.CUfileStatsLevel1;
import io.kvtier.bindings.cufile.generated.CuFileApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Whether cuFile counts for its statistics; there is one count for the process. */
final class Counting {
    /*
     * cuFile 1.20 is particular about the order of these calls: to start what runs stops it, and what was stopped starts again
     * only after the level was 0. So what was done is kept here. Who calls has an open driver.
     */
    private static final int BASIC = 1;
    private static final int OFF = 0;

    private static boolean isOn;

    private Counting() {}

    /** Begins to count from 0. */
    static synchronized void start() {
        CuFile.requireFunction("cuFileGetStatsL1", "1.20");
        if (isOn) {
            CuFileStatus.check("cuFileStatsReset", CuFileApi.cuFileStatsReset(CuFileStatus.result()), "");
            return;
        }
        setLevel(BASIC);
        CuFileStatus.check("cuFileStatsStart", CuFileApi.cuFileStatsStart(CuFileStatus.result()), "");
        isOn = true;
    }

    static synchronized void stop() {
        if (isOn) {
            isOn = false;
            CuFileStatus.check("cuFileStatsStop", CuFileApi.cuFileStatsStop(CuFileStatus.result()), "");
            setLevel(OFF);
        }
    }

    static synchronized Statistics read() {
        if (!isOn) {
            throw new IllegalStateException("cuFile does not count; call startStatistics before");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment counts = CUfileStatsLevel1.allocate(arena);
            CuFileStatus.check("cuFileGetStatsL1", CuFileApi.cuFileGetStatsL1(CuFileStatus.result(), counts), "");
            return Statistics.of(counts);
        }
    }

    /** cuFile has stopped by itself: its last driver was closed. */
    static synchronized void ended() {
        isOn = false;
    }

    private static void setLevel(int level) {
        CuFileStatus.check(
                "cuFileSetStatsLevel", CuFileApi.cuFileSetStatsLevel(CuFileStatus.result(), level), "level " + level);
    }
}
