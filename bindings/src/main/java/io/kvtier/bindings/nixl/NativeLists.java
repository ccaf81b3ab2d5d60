package io.kvtier.bindings.nixl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Turns Java values into NIXL's short-lived containers and back; each is freed where it was made. */
final class NativeLists {
    private NativeLists() {}

    /** What is done with a container while it lives. */
    interface Use<R> {
        R with(MemorySegment container);
    }

    static <R> R withParams(Map<String, String> params, Arena arena, Use<R> use) {
        MemorySegment out = arena.allocate(ADDRESS);
        NixlStatus.check("create_params", NixlApi.nixl_capi_create_params(out));
        MemorySegment container = out.get(ADDRESS, 0);
        try {
            params.forEach((key, value) -> NixlStatus.check(
                    "params_add",
                    NixlApi.nixl_capi_params_add(container, arena.allocateFrom(key), arena.allocateFrom(value)),
                    "parameter " + key));
            return use.with(container);
        } finally {
            NixlApi.nixl_capi_destroy_params(container);
        }
    }

    /** Copies a map and frees it. */
    static Map<String, String> takeParams(MemorySegment params, Arena arena) {
        Map<String, String> result = new LinkedHashMap<>();
        try {
            MemorySegment flag = arena.allocate(JAVA_BOOLEAN);
            NixlStatus.check("params_is_empty", NixlApi.nixl_capi_params_is_empty(params, flag));
            if (!flag.get(JAVA_BOOLEAN, 0)) {
                copyParams(params, arena, result);
            }
            return result;
        } finally {
            NixlApi.nixl_capi_destroy_params(params);
        }
    }

    private static void copyParams(MemorySegment params, Arena arena, Map<String, String> result) {
        MemorySegment out = arena.allocate(ADDRESS);
        NixlStatus.check("params_create_iterator", NixlApi.nixl_capi_params_create_iterator(params, out));
        MemorySegment iterator = out.get(ADDRESS, 0);
        try {
            MemorySegment key = arena.allocate(ADDRESS);
            MemorySegment value = arena.allocate(ADDRESS);
            MemorySegment more = arena.allocate(JAVA_BOOLEAN);
            do {
                NixlStatus.check(
                        "params_iterator_next", NixlApi.nixl_capi_params_iterator_next(iterator, key, value, more));
                result.put(text(key), text(value));
            } while (more.get(JAVA_BOOLEAN, 0));
        } finally {
            NixlApi.nixl_capi_params_destroy_iterator(iterator);
        }
    }

    static <R> R withRegistrationList(Descriptors descriptors, Arena arena, Use<R> use) {
        MemorySegment out = arena.allocate(ADDRESS);
        NixlStatus.check(
                "create_reg_dlist",
                NixlApi.nixl_capi_create_reg_dlist(descriptors.type().code(), out));
        MemorySegment list = out.get(ADDRESS, 0);
        try {
            for (Descriptors.Entry entry : descriptors.entries()) {
                byte[] metadata = entry.metadata().getBytes(StandardCharsets.UTF_8);
                NixlStatus.check(
                        "reg_dlist_add_desc",
                        NixlApi.nixl_capi_reg_dlist_add_desc(
                                list,
                                entry.address(),
                                entry.length(),
                                entry.device(),
                                arena.allocateFrom(JAVA_BYTE, metadata),
                                metadata.length));
            }
            return use.with(list);
        } finally {
            NixlApi.nixl_capi_destroy_reg_dlist(list);
        }
    }

    static <R> R withTransferList(Descriptors descriptors, Arena arena, Use<R> use) {
        MemorySegment out = arena.allocate(ADDRESS);
        NixlStatus.check(
                "create_xfer_dlist",
                NixlApi.nixl_capi_create_xfer_dlist(descriptors.type().code(), out));
        MemorySegment list = out.get(ADDRESS, 0);
        try {
            for (Descriptors.Entry entry : descriptors.entries()) {
                NixlStatus.check(
                        "xfer_dlist_add_desc",
                        NixlApi.nixl_capi_xfer_dlist_add_desc(list, entry.address(), entry.length(), entry.device()));
            }
            return use.with(list);
        } finally {
            NixlApi.nixl_capi_destroy_xfer_dlist(list);
        }
    }

    /** Makes the options of a call: backends to use, a message for the other side, whether to keep descriptors apart. */
    static <R> R withOptions(List<Backend> backends, TransferOptions options, Arena arena, Use<R> use) {
        MemorySegment out = arena.allocate(ADDRESS);
        NixlStatus.check("create_opt_args", NixlApi.nixl_capi_create_opt_args(out));
        MemorySegment args = out.get(ADDRESS, 0);
        try {
            for (Backend backend : backends) {
                NixlStatus.check(
                        "opt_args_add_backend", NixlApi.nixl_capi_opt_args_add_backend(args, backend.handle()));
            }
            byte[] message = options.notification();
            if (message.length > 0) {
                MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, message);
                NixlStatus.check(
                        "opt_args_set_notif_msg",
                        NixlApi.nixl_capi_opt_args_set_notif_msg(args, bytes, message.length));
                NixlStatus.check("opt_args_set_has_notif", NixlApi.nixl_capi_opt_args_set_has_notif(args, true));
            }
            if (options.keepsDescriptorsApart()) {
                NixlStatus.check(
                        "opt_args_set_skip_desc_merge", NixlApi.nixl_capi_opt_args_set_skip_desc_merge(args, true));
            }
            return use.with(args);
        } finally {
            NixlApi.nixl_capi_destroy_opt_args(args);
        }
    }

    /** Makes the options of a call that needs no other memory. */
    static <R> R withOptionsOnly(TransferOptions options, Use<R> use) {
        try (Arena arena = Arena.ofConfined()) {
            return withOptions(List.of(), options, arena, use);
        }
    }

    /** Makes the options of a call that exchanges metadata. */
    static int withServer(MetadataServer server, Arena arena, Use<Integer> use) {
        InetSocketAddress address = server.address();
        return withOptions(List.of(), TransferOptions.DEFAULT, arena, args -> {
            if (address != null) {
                MemorySegment host = arena.allocateFrom(address.getAddress().getHostAddress());
                NixlStatus.check("opt_args_set_ip_addr", NixlApi.nixl_capi_opt_args_set_ip_addr(args, host));
                NixlStatus.check(
                        "opt_args_set_port", NixlApi.nixl_capi_opt_args_set_port(args, (short) address.getPort()));
            }
            return use.with(args);
        });
    }

    /** Copies a list of names and frees it. */
    static List<String> takeStrings(MemorySegment list, Arena arena) {
        try {
            MemorySegment size = arena.allocate(JAVA_LONG);
            NixlStatus.check("string_list_size", NixlApi.nixl_capi_string_list_size(list, size));
            List<String> result = new ArrayList<>();
            MemorySegment text = arena.allocate(ADDRESS);
            for (long i = 0; i < size.get(JAVA_LONG, 0); i++) {
                NixlStatus.check("string_list_get", NixlApi.nixl_capi_string_list_get(list, i, text));
                result.add(text(text));
            }
            return List.copyOf(result);
        } finally {
            NixlApi.nixl_capi_destroy_string_list(list);
        }
    }

    /** Copies a list of memory types and frees it; types that are not known here are left out. */
    static List<MemoryType> takeMemoryTypes(MemorySegment list, Arena arena) {
        try {
            MemorySegment size = arena.allocate(JAVA_LONG);
            NixlStatus.check("mem_list_size", NixlApi.nixl_capi_mem_list_size(list, size));
            List<MemoryType> result = new ArrayList<>();
            MemorySegment code = arena.allocate(JAVA_INT);
            for (long i = 0; i < size.get(JAVA_LONG, 0); i++) {
                NixlStatus.check("mem_list_get", NixlApi.nixl_capi_mem_list_get(list, i, code));
                MemoryType type = MemoryType.ofCode(code.get(JAVA_INT, 0));
                if (type != null) {
                    result.add(type);
                }
            }
            return List.copyOf(result);
        } finally {
            NixlApi.nixl_capi_destroy_mem_list(list);
        }
    }

    /** Returns the text that a pointer to a borrowed C string points to. */
    static String text(MemorySegment pointer) {
        return pointer.get(ADDRESS, 0).reinterpret(Long.MAX_VALUE).getString(0);
    }
}
