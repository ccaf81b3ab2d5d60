package io.kvtier.bindings.cufile;

import io.kvtier.bindings.cufile.generated.CuFileApi;
import io.kvtier.bindings.internal.ChildProbe;

/** Opens the driver in a process of its own: whether that returns cannot be told without trying. */
final class DriverProbe {
    private DriverProbe() {}

    /** Runs the probe. */
    public static void main(String[] arguments) {
        ChildProbe.inChild(() -> {
            CuFile.require();
            CuFileStatus.check("cuFileDriverOpen", CuFileApi.cuFileDriverOpen(CuFileStatus.result()), "");
        });
    }
}
