/** The reference engine: a small Llama model in plain Java whose KV lives in paged memory like an engine's. */
@NullMarked
package io.kvtier.llama;

import org.jspecify.annotations.NullMarked;
