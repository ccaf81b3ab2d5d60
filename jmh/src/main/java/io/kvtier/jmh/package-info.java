/** Benchmarks: one class per question, each beside its anchor in the same run. */
@NullMarked
package io.kvtier.jmh;

import org.jspecify.annotations.NullMarked;
