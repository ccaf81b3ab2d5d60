import org.jspecify.annotations.NullMarked;

/** Native libraries through the Foreign Function and Memory API; the only module of kvtier with native access. */
@NullMarked
module io.kvtier.bindings {
    requires static transitive org.jspecify;

    exports io.kvtier.bindings;
    exports io.kvtier.bindings.cuda;
    exports io.kvtier.bindings.cufile;
    exports io.kvtier.bindings.nixl;
    exports io.kvtier.bindings.posix;
}
