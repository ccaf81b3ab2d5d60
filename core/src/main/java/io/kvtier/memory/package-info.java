/** Slabs and pools of pages: bytes and addresses, nothing of KV. */
@NullMarked
package io.kvtier.memory;

import org.jspecify.annotations.NullMarked;
