/**
 * NIXL, the inference transfer library: agents move bytes between memory, files, objects and other agents. See {@link
 * io.kvtier.bindings.nixl.Nixl} for whether it is there and {@link io.kvtier.bindings.nixl.Agent} for where to begin.
 */
@NullMarked
package io.kvtier.bindings.nixl;

import org.jspecify.annotations.NullMarked;
