/** Identity of objects, their states, leases and index. */
@NullMarked
package io.kvtier.object;

import org.jspecify.annotations.NullMarked;
