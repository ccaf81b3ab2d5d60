/** Order of objects and choice of victims; pure Java, no memory of its own beyond links. */
@NullMarked
package io.kvtier.policy;

import org.jspecify.annotations.NullMarked;
