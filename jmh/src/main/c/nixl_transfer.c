/*
 * The transfers of the NIXL measures through the C interface alone. Agents, lists and options are those that kvtier makes
 * for the same transfer; waiting polls with the same pauses, so that what differs is the binding.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nixl.h"

#define POLLS_WITHOUT_PAUSE 64
#define FIRST_PAUSE_NANOS 2000
#define LONGEST_PAUSE_NANOS 500000

#define TRY(call)                         \
  do {                                    \
    nixl_capi_status_t status_ = (call);  \
    if (status_ != NIXL_CAPI_SUCCESS) {   \
      return status_;                     \
    }                                     \
  } while (0)

struct place {
  nixl_capi_mem_type_t type;
  uintptr_t address;
  uint64_t device;
  const char *metadata;
};

struct transfer {
  nixl_capi_agent_t agent;
  nixl_capi_backend_t backend;
  char *remote_name;
  nixl_capi_xfer_op_t operation;
  nixl_capi_xfer_dlist_t local;
  nixl_capi_xfer_dlist_t remote;
  nixl_capi_xfer_req_t request; /* NULL unless one request is posted again and again */
};

static nixl_capi_status_t create_agent(
    struct transfer *transfer, const char *name, const char *plugin, int progress_thread) {
  nixl_capi_agent_config_t config = {.enable_prog_thread = progress_thread, .thread_sync = NIXL_CAPI_THREAD_SYNC_RW};
  nixl_capi_params_t params;
  TRY(nixl_capi_create_configured_agent(name, &config, &transfer->agent));
  TRY(nixl_capi_create_params(&params));
  TRY(nixl_capi_create_backend(transfer->agent, plugin, params, &transfer->backend));
  return nixl_capi_destroy_params(params);
}

static nixl_capi_status_t register_place(nixl_capi_agent_t agent, struct place place, size_t bytes) {
  nixl_capi_reg_dlist_t list;
  TRY(nixl_capi_create_reg_dlist(place.type, &list));
  TRY(nixl_capi_reg_dlist_add_desc(list, place.address, bytes, place.device, place.metadata, strlen(place.metadata)));
  TRY(nixl_capi_register_mem(agent, list, NULL));
  return nixl_capi_destroy_reg_dlist(list);
}

static nixl_capi_status_t list_pieces(struct place place, size_t bytes, size_t piece, nixl_capi_xfer_dlist_t *list) {
  TRY(nixl_capi_create_xfer_dlist(place.type, list));
  for (size_t at = 0; at < bytes; at += piece) {
    TRY(nixl_capi_xfer_dlist_add_desc(*list, place.address + at, piece, place.device));
  }
  return NIXL_CAPI_SUCCESS;
}

static nixl_capi_status_t create_request(struct transfer *transfer, nixl_capi_xfer_req_t *request) {
  return nixl_capi_create_xfer_req(
      transfer->agent, transfer->operation, transfer->local, transfer->remote, transfer->remote_name, request, NULL);
}

static nixl_capi_status_t list_both(
    struct transfer *transfer, struct place local, struct place remote, size_t bytes, size_t piece) {
  TRY(list_pieces(local, bytes, piece, &transfer->local));
  return list_pieces(remote, bytes, piece, &transfer->remote);
}

static nixl_capi_status_t post_and_wait(struct transfer *transfer, nixl_capi_xfer_req_t request) {
  struct timespec pause = {0, FIRST_PAUSE_NANOS};
  nixl_capi_status_t status = nixl_capi_post_xfer_req(transfer->agent, request, NULL);
  for (int polls = 0; status == NIXL_CAPI_IN_PROG; polls++) {
    if (polls > POLLS_WITHOUT_PAUSE) {
      nanosleep(&pause, NULL);
      pause.tv_nsec = pause.tv_nsec * 2 < LONGEST_PAUSE_NANOS ? pause.tv_nsec * 2 : LONGEST_PAUSE_NANOS;
    }
    status = nixl_capi_get_xfer_status(transfer->agent, request);
  }
  return status;
}

static nixl_capi_status_t free_request(struct transfer *transfer, nixl_capi_xfer_req_t request) {
  nixl_capi_status_t released = nixl_capi_release_xfer_req(transfer->agent, request);
  nixl_capi_destroy_xfer_req(request);
  return released;
}

/* Sets up a transfer between memory and a file, named as NIXL wants it: mode, colon, path. */
int create_posix(struct transfer **out, int operation, void *memory, const char *file, size_t bytes, size_t piece) {
  struct transfer *transfer = *out = calloc(1, sizeof *transfer);
  transfer->operation = operation;
  transfer->remote_name = strdup("c");
  TRY(create_agent(transfer, "c", "POSIX", 1));
  struct place local = {NIXL_CAPI_MEM_DRAM, (uintptr_t)memory, 0, ""};
  struct place remote = {NIXL_CAPI_MEM_FILE, 0, 1, file};
  TRY(register_place(transfer->agent, local, bytes));
  TRY(register_place(transfer->agent, remote, bytes));
  return list_both(transfer, local, remote, bytes, piece);
}

/* Sets up a transfer to the memory of another agent, whose metadata says its name. */
int create_ucx(
    struct transfer **out,
    int operation,
    void *source,
    void *target,
    const void *metadata,
    size_t metadata_bytes,
    size_t bytes,
    size_t piece) {
  struct transfer *transfer = *out = calloc(1, sizeof *transfer);
  transfer->operation = operation;
  TRY(create_agent(transfer, "c", "UCX", 0));
  TRY(nixl_capi_load_remote_md(transfer->agent, metadata, metadata_bytes, &transfer->remote_name));
  struct place local = {NIXL_CAPI_MEM_DRAM, (uintptr_t)source, 0, ""};
  struct place remote = {NIXL_CAPI_MEM_DRAM, (uintptr_t)target, 0, ""};
  TRY(register_place(transfer->agent, local, bytes));
  return list_both(transfer, local, remote, bytes, piece);
}

/* Keeps one request for all runs; without it each run creates one. */
int keep_request(struct transfer *transfer) { return create_request(transfer, &transfer->request); }

/* Moves all bytes once, to the end. */
int run_transfer(struct transfer *transfer) {
  if (transfer->request) {
    return post_and_wait(transfer, transfer->request);
  }
  nixl_capi_xfer_req_t request;
  TRY(create_request(transfer, &request));
  nixl_capi_status_t status = post_and_wait(transfer, request);
  nixl_capi_status_t freed = free_request(transfer, request);
  return status ? status : freed;
}

/* Frees everything; registrations end with their agents. */
int destroy_transfer(struct transfer *transfer) {
  if (transfer->request) {
    TRY(free_request(transfer, transfer->request));
  }
  TRY(nixl_capi_destroy_xfer_dlist(transfer->local));
  TRY(nixl_capi_destroy_xfer_dlist(transfer->remote));
  TRY(nixl_capi_destroy_backend(transfer->backend));
  TRY(nixl_capi_destroy_agent(transfer->agent));
  free(transfer->remote_name);
  free(transfer);
  return NIXL_CAPI_SUCCESS;
}
