package io.kvtier.tier;

import io.kvtier.object.KeySpace;
import io.kvtier.object.KeySpaces;
import io.kvtier.tier.file.FileAdapter;
import java.nio.file.Path;
import java.util.Set;

/** Opens tiers from their settings. */
public final class Tiers {
    private Tiers() {}

    /**
     * Opens a file tier: takes the folder's lock, finds what is there, and tests that what is written comes back.
     *
     * @param config the settings
     * @param spaces receives the key spaces that are found
     * @return the tier; the caller closes it
     * @throws TierException if the folder cannot be used; nothing was written then
     */
    public static TierAdapter open(FileTierConfig config, KeySpaces spaces) throws TierException {
        return FileAdapter.open(config, spaces);
    }

    /**
     * Returns the key spaces that a file tier's folder holds objects of, whoever owns it; a folder that is not there
     * holds none. Changes nothing.
     *
     * @throws TierException if the folder cannot be read or is of a newer format
     */
    public static Set<KeySpace> keySpaces(Path folder) throws TierException {
        return FileAdapter.keySpaces(folder);
    }
}
