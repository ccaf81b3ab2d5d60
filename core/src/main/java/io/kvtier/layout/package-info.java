/** Shapes and sizes of KV objects and of engines' paged KV: arithmetic only. */
@NullMarked
package io.kvtier.layout;

import org.jspecify.annotations.NullMarked;
