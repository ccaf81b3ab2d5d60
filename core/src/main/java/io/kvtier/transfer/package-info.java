/** Movers between an engine's paged KV and objects. */
@NullMarked
package io.kvtier.transfer;

import org.jspecify.annotations.NullMarked;
