/**
 * cuFile, GPUDirect Storage: whether it is there and which way I/O takes; its driver, files and memory that are registered with
 * it; reads and writes at once, in batches, and in the order of a CUDA stream.
 */
@NullMarked
package io.kvtier.bindings.cufile;

import org.jspecify.annotations.NullMarked;
