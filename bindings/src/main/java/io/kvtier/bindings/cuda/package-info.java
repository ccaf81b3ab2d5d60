/** The CUDA runtime: whether it is there, in which version, and which devices it sees. */
@NullMarked
package io.kvtier.bindings.cuda;

import org.jspecify.annotations.NullMarked;
