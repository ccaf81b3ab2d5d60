/** What native libraries were found, and why others were not. */
@NullMarked
package io.kvtier.bindings;

import org.jspecify.annotations.NullMarked;
