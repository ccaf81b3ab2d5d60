/** The storage manager: memory over the tiers below it. */
@NullMarked
package io.kvtier.store;

import org.jspecify.annotations.NullMarked;
