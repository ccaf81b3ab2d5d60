/** The local disk tier: one record per object. */
@NullMarked
package io.kvtier.tier.file;

import org.jspecify.annotations.NullMarked;
