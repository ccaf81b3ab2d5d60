/* Facts about NIXL's C interface: see probe.h. */
#ifdef PROBE_VENDOR
#include <wrapper.h>
#else
#include "../nixl.h"
#endif
#include "probe.h"

int main(void) {
  SIZE(nixl_capi_agent_config_s);
  FIELD(nixl_capi_agent_config_s, enable_prog_thread);
  FIELD(nixl_capi_agent_config_s, enable_listen_thread);
  FIELD(nixl_capi_agent_config_s, listen_port);
  FIELD(nixl_capi_agent_config_s, thread_sync);
  FIELD(nixl_capi_agent_config_s, num_workers);
  FIELD(nixl_capi_agent_config_s, pthr_delay_us);
  FIELD(nixl_capi_agent_config_s, lthr_delay_us);
  FIELD(nixl_capi_agent_config_s, capture_telemetry);
  SIZE(nixl_capi_xfer_telemetry_s);
  FIELD(nixl_capi_xfer_telemetry_s, start_time_us);
  FIELD(nixl_capi_xfer_telemetry_s, post_duration_us);
  FIELD(nixl_capi_xfer_telemetry_s, xfer_duration_us);
  FIELD(nixl_capi_xfer_telemetry_s, total_bytes);
  FIELD(nixl_capi_xfer_telemetry_s, desc_count);

  VALUE(NIXL_CAPI_IN_PROG);
  VALUE(NIXL_CAPI_SUCCESS);
  VALUE(NIXL_CAPI_ERROR_INVALID_PARAM);
  VALUE(NIXL_CAPI_ERROR_BACKEND);
  VALUE(NIXL_CAPI_ERROR_INVALID_STATE);
  VALUE(NIXL_CAPI_ERROR_EXCEPTION);
  VALUE(NIXL_CAPI_ERROR_NO_TELEMETRY);
  VALUE(NIXL_CAPI_ERROR_NOT_FOUND);
  VALUE(NIXL_CAPI_MEM_DRAM);
  VALUE(NIXL_CAPI_MEM_VRAM);
  VALUE(NIXL_CAPI_MEM_BLOCK);
  VALUE(NIXL_CAPI_MEM_OBJECT);
  VALUE(NIXL_CAPI_MEM_FILE);
  VALUE(NIXL_CAPI_MEM_UNKNOWN);
  VALUE(NIXL_CAPI_THREAD_SYNC_NONE);
  VALUE(NIXL_CAPI_THREAD_SYNC_STRICT);
  VALUE(NIXL_CAPI_THREAD_SYNC_RW);
  VALUE(NIXL_CAPI_XFER_OP_READ);
  VALUE(NIXL_CAPI_XFER_OP_WRITE);
  VALUE(NIXL_CAPI_COST_ANALYTICAL_BACKEND);
  return 0;
}
