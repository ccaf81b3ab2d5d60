package io.kvtier.trace;

import io.kvtier.policy.EvictionPolicy;
import java.nio.file.Path;
import java.util.Objects;

/**
 * How to replay a trace.
 *
 * @param l1Blocks capacity of memory in blocks; {@link #UNLIMITED} for no cap
 * @param l2Blocks capacity of the disk tier in blocks; 0 for no such tier
 * @param payloadBytes bytes stored per block
 * @param policy which block goes first, in both tiers
 * @param touch order in which a request uses its blocks
 * @param l2Folder folder of the disk tier
 * @param asEngine whether to look up, retrieve under leases and store what was missing, as an engine does
 */
public record ReplaySettings(
        long l1Blocks,
        long l2Blocks,
        int payloadBytes,
        EvictionPolicy.Kind policy,
        TouchOrder touch,
        Path l2Folder,
        boolean asEngine) {
    /** A capacity without a cap. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    /** The order in which a request's blocks are touched or inserted. */
    public enum TouchOrder {
        /** The first block first. */
        FORWARD,
        /** The last block first, so that the first one is the last to go. */
        REVERSE
    }

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if one is out of range
     */
    public ReplaySettings {
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(touch, "touch");
        Objects.requireNonNull(l2Folder, "l2Folder");
        if (l1Blocks < 1) {
            throw new IllegalArgumentException("memory must hold at least 1 block, got " + l1Blocks);
        }
        if (l2Blocks < 0) {
            throw new IllegalArgumentException("the disk tier holds 0 blocks (none) or more, got " + l2Blocks);
        }
        if (payloadBytes < 1) {
            throw new IllegalArgumentException("a block has at least 1 byte of payload, got " + payloadBytes);
        }
    }
}
