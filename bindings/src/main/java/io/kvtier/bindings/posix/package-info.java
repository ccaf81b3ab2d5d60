/** The few calls of libc that Java lacks; Linux only. */
@NullMarked
package io.kvtier.bindings.posix;

import org.jspecify.annotations.NullMarked;
