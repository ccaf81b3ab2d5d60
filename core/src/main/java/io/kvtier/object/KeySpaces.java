package io.kvtier.object;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The key spaces that one storage manager and its tiers know, each under a small number. Safe for all threads. */
public final class KeySpaces {
    private final Map<KeySpace, Integer> ids = new HashMap<>();
    private final List<KeySpace> spaces = new ArrayList<>();

    /** Creates an empty registry. */
    public KeySpaces() {}

    /** Returns the number of a key space, a new one if it was not known. */
    public synchronized int intern(KeySpace space) {
        return ids.computeIfAbsent(space, added -> {
            spaces.add(added);
            return spaces.size() - 1;
        });
    }

    /**
     * Returns the key space with a number.
     *
     * @throws IndexOutOfBoundsException if none has it
     */
    public synchronized KeySpace space(int id) {
        Objects.checkIndex(id, spaces.size());
        return spaces.get(id);
    }

    /** Returns a copy of the list of known key spaces, by number. */
    public synchronized List<KeySpace> all() {
        return List.copyOf(spaces);
    }

    /** Returns an empty list of keys of a key space, which is entered if it was not known. */
    public ObjectKeys keys(KeySpace space) {
        return new ObjectKeys(space, intern(space));
    }

    /**
     * Returns an empty list of keys to look up. A key space that is not known is not entered: nothing is stored in it, so
     * its keys are found nowhere, and asking for it costs no memory.
     */
    public ObjectKeys keysToFind(KeySpace space) {
        return new ObjectKeys(space, idIfKnown(space));
    }

    private synchronized int idIfKnown(KeySpace space) {
        return ids.getOrDefault(space, ObjectKeys.UNKNOWN_SPACE);
    }
}
