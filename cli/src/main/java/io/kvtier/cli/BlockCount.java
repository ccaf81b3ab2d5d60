package io.kvtier.cli;

import io.kvtier.trace.ReplaySettings;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a number of blocks, or {@code unlimited}. */
final class BlockCount implements ITypeConverter<Long> {
    @Override
    public Long convert(String value) {
        if (value.equalsIgnoreCase("unlimited")) {
            return ReplaySettings.UNLIMITED;
        }
        try {
            long blocks = Long.parseLong(value);
            if (blocks >= 0) {
                return blocks;
            }
        } catch (NumberFormatException e) {
            // Told below, with what is allowed.
        }
        throw new TypeConversionException("'" + value + "' is neither a number of blocks nor 'unlimited'");
    }
}
