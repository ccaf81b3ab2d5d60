/** Chunking and prefix hashing of token ids. */
@NullMarked
package io.kvtier.token;

import org.jspecify.annotations.NullMarked;
