/** cuFile, GPUDirect Storage: whether it is there, and whether it could go the direct way. */
@NullMarked
package io.kvtier.bindings.cufile;

import org.jspecify.annotations.NullMarked;
