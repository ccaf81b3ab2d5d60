import org.jspecify.annotations.NullMarked;

/** The KV cache library: a facade for engines over memory and the tiers below it. */
@NullMarked
module io.kvtier {
    requires io.kvtier.bindings;
    requires org.apache.logging.log4j;
    requires static transitive org.jspecify;

    exports io.kvtier.layout;
    exports io.kvtier.memory;
    exports io.kvtier.object;
    exports io.kvtier.policy;
    exports io.kvtier;
    exports io.kvtier.store;
    exports io.kvtier.tier;
    exports io.kvtier.token;
    exports io.kvtier.transfer;
}
