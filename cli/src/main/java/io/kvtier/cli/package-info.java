/** The kvtier command, one class per subcommand. */
@NullMarked
package io.kvtier.cli;

import org.jspecify.annotations.NullMarked;
