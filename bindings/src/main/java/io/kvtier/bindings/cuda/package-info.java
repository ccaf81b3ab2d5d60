/**
 * The CUDA runtime, releases 12 and 13: devices, streams and events, memory on devices and pinned in the host, copies, and
 * sharing between processes. {@link io.kvtier.bindings.cuda.Cuda} tells whether it can be used here.
 */
@NullMarked
package io.kvtier.bindings.cuda;

import org.jspecify.annotations.NullMarked;
