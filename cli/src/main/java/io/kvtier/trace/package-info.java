/** Reads public prefix traces of LLM serving, in three formats, into one compact list of requests and blocks. */
@NullMarked
package io.kvtier.trace;

import org.jspecify.annotations.NullMarked;
