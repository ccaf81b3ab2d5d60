/** The contract of the tiers below memory, and how one is opened. */
@NullMarked
package io.kvtier.tier;

import org.jspecify.annotations.NullMarked;
