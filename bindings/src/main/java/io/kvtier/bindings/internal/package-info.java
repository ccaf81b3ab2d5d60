/** Where native symbols come from. */
@NullMarked
package io.kvtier.bindings.internal;

import org.jspecify.annotations.NullMarked;
