/** The facade for engines: store, look up and retrieve the KV of prefixes. */
@NullMarked
package io.kvtier;

import org.jspecify.annotations.NullMarked;
