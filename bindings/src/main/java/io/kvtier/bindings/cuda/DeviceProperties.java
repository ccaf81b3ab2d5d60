package io.kvtier.bindings.cuda;

import java.util.UUID;

/**
 * What a device is.
 *
 * @param name the model's name
 * @param uuid names the device for good, whatever its ordinal
 * @param totalMemory bytes of memory
 * @param computeMajor first number of the compute capability
 * @param computeMinor second number of the compute capability
 * @param pciBusId the place on the PCI bus, e.g. {@code 0000:3B:00.0}
 */
public record DeviceProperties(
        String name, UUID uuid, long totalMemory, int computeMajor, int computeMinor, String pciBusId) {}
