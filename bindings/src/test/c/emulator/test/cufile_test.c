/* The emulated cuFile keeps the rules of the real one. */
#include "checks.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define IS(code, call) CHECK((call).err == (code))
#define FINE(call) IS(CU_FILE_SUCCESS, call)

static char path[] = "/tmp/kvtier-emulator-XXXXXX";

static int open_file(int flags) {
  int fd = open(path, flags);
  CHECK(fd >= 0);
  return fd;
}

static CUfileHandle_t register_file(int fd) {
  CUfileDescr_t description = {.type = CU_FILE_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd};
  CUfileHandle_t file;
  FINE(cuFileHandleRegister(&file, &description));
  return file;
}

static int refused(int fd) {
  CUfileDescr_t description = {.type = CU_FILE_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd};
  CUfileHandle_t file;
  return cuFileHandleRegister(&file, &description).err;
}

static void fill(void *device, int value) {
  char bytes[SIZE];
  memset(bytes, value, SIZE);
  kvtier_emulator_poke((unsigned long) device, bytes, SIZE);
}

static int byte_at(void *device, size_t offset) {
  unsigned char value;
  kvtier_emulator_peek((unsigned long) device + offset, &value, 1);
  return value;
}

/* The emulated 12 returns a code as documented; the emulated 13 in errno. */
static bool failed_with(ssize_t result, int code) {
  return EMULATOR_MAJOR == 12 ? result == -code : result == -1 && errno == code;
}

/* ---- driver ---- */

static void driver(void) {
  CHECK(cuFileUseCount() == 0);
  IS(CU_FILE_DRIVER_NOT_INITIALIZED, cuFileDriverClose_v2());
  size_t value;
  FINE(cuFileSetParameterSizeT(CUFILE_PARAM_PROPERTIES_IO_BATCHSIZE, 1000));
  IS(CU_FILE_DRIVER_INVALID_PROPS, cuFileDriverOpen());
  FINE(cuFileSetParameterSizeT(CUFILE_PARAM_PROPERTIES_IO_BATCHSIZE, 128));
  FINE(cuFileGetParameterSizeT(CUFILE_PARAM_PROPERTIES_IO_BATCHSIZE, &value));
  CHECK(value == 128);
  char text[16];
  FINE(cuFileSetParameterString(CUFILE_PARAM_LOG_DIR, "/tmp"));
  IS(CU_FILE_INVALID_VALUE, cuFileGetParameterString(CUFILE_PARAM_LOG_DIR, text, 4));
  FINE(cuFileGetParameterString(CUFILE_PARAM_LOG_DIR, text, 5));
  CHECK(strcmp(text, "/tmp") == 0);
  FINE(cuFileDriverOpen());
  FINE(cuFileDriverOpen());
  CHECK(cuFileUseCount() == 2);
  IS(CU_FILE_DRIVER_ALREADY_OPEN, cuFileSetParameterBool(CUFILE_PARAM_FORCE_COMPAT_MODE, true));
  IS(CU_FILE_INVALID_VALUE, cuFileDriverSetMaxDirectIOSize(3));
  FINE(cuFileDriverSetMaxDirectIOSize(4096));
  CUfileDrvProps_t properties;
  FINE(cuFileDriverGetProperties(&properties));
  CHECK(properties.nvfs.max_direct_io_size == 4096 && properties.max_batch_io_size == 128);
  CHECK(properties.nvfs.dstatusflags == 1 << CU_FILE_NVME_SUPPORTED && properties.nvfs.major_version == 2);
  FINE(cuFileDriverClose_v2());
  FINE(cuFileDriverClose());
  kvtier_emulator_compat(1);
  FINE(cuFileDriverOpen());
  FINE(cuFileDriverGetProperties(&properties));
  CHECK(properties.nvfs.dstatusflags == 0 && properties.nvfs.major_version == 0);
  FINE(cuFileDriverClose_v2());
  FINE(cuFileSetParameterBool(CUFILE_PARAM_PROPERTIES_ALLOW_COMPAT_MODE, false));
  IS(CU_FILE_NVFS_SETUP_ERROR, cuFileDriverOpen());
  FINE(cuFileSetParameterBool(CUFILE_PARAM_PROPERTIES_ALLOW_COMPAT_MODE, true));
  kvtier_emulator_compat(0);
  CLEAN();
}

/* ---- files and buffers ---- */

static void registration(void) {
  int fd = open_file(O_RDWR);
  CUfileHandle_t file = register_file(fd);
  CHECK(cuFileUseCount() == 1);
  CHECK(refused(fd) == CU_FILE_HANDLE_ALREADY_REGISTERED);
  CHECK(refused(-1) == CU_FILE_INVALID_VALUE);
  int folder = open("/tmp", O_RDONLY | O_DIRECTORY);
  CHECK(refused(folder) == CU_FILE_INVALID_FILE_TYPE);
  int appending = open_file(O_RDWR | O_APPEND);
  CHECK(refused(appending) == CU_FILE_INVALID_FILE_OPEN_FLAG);
  char *device = new_memory();
  FINE(cuFileBufRegister(device, SIZE, 0));
  IS(CU_FILE_MEMORY_ALREADY_REGISTERED, cuFileBufRegister(device, SIZE, 0));
  IS(CU_FILE_INVALID_VALUE, cuFileBufRegister(device, 0, 0));
  CHECK(failed_with(cuFileRead(file, device, SIZE, 0, 1), CU_FILE_INVALID_MAPPING_RANGE));
  FINE(cuFileBufDeregister(device));
  IS(CU_FILE_MEMORY_NOT_REGISTERED, cuFileBufDeregister(device));
  MISUSE("is no registered buffer");
  CHECK(failed_with(cuFileRead(file, device, SIZE, 0, 1), CU_FILE_CUDA_POINTER_RANGE_ERROR));
  MISUSE("leaves device memory");
  FINE(cuFileBufRegister(device, SIZE, 0));
  OK(cudaFree(device));
  MISUSE("still registered with cuFile");
  FINE(cuFileBufDeregister(device));
  cuFileHandleDeregister(file);
  cuFileHandleDeregister(file);
  MISUSE("is no registered file any more");
  CHECK(failed_with(cuFileRead(file, path, 1, 0, 0), CU_FILE_HANDLE_NOT_REGISTERED));
  MISUSE("is no registered file any more");
  file = register_file(fd);
  FINE(cuFileDriverClose_v2());
  MISUSE("is still registered");
  close(fd);
  close(folder);
  close(appending);
  CLEAN();
}

/* ---- reading and writing ---- */

static void round_trip(void) {
  FINE(cuFileDriverOpen());
  int fd = open_file(O_RDWR);
  int only_read = open_file(O_RDONLY);
  CUfileHandle_t file = register_file(fd);
  CUfileHandle_t other = register_file(only_read);
  char *device = new_memory();
  fill(device, 5);
  CHECK(cuFileWrite(file, device, SIZE, 0, 0) == (ssize_t) SIZE);
  CHECK(!reported("note: "));
  fill(device, 6);
  CHECK(cuFileRead(other, device, 100, 1, 1000) == 100);
  CHECK(reported("note: cuFileRead: not aligned"));
  CHECK(byte_at(device, 999) == 6 && byte_at(device, 1000) == 5 && byte_at(device, 1099) == 5 && byte_at(device, 1100) == 6);
  CHECK(cuFileRead(file, device, SIZE, SIZE - 10, 0) == 10);
  CHECK(cuFileRead(file, device, SIZE, 2 * SIZE, 0) == 0);
  char host[100];
  CHECK(cuFileRead(file, host, 100, 0, 0) == 100 && host[99] == 5);
  CHECK(failed_with(cuFileWrite(other, device, SIZE, 0, 0), CU_FILE_INVALID_FILE_OPEN_FLAG));
  CHECK(failed_with(cuFileRead(file, device, SIZE, -1, 0), CU_FILE_INVALID_VALUE));
  CHECK(cuFileRead(file, NULL, SIZE, 0, 0) == -1 && errno == EINVAL);
  CHECK(failed_with(cuFileRead(file, device, 1, 0, -1), CU_FILE_INVALID_VALUE));
  MISUSE("lies before the buffer");
  kvtier_emulator_short("cuFileRead", 1, 7);
  CHECK(cuFileRead(file, device, SIZE, 0, 0) == 7);
  kvtier_emulator_fail("cuFileRead", 1, EIO);
  CHECK(cuFileRead(file, device, SIZE, 0, 0) == -1 && errno == EIO);
  kvtier_emulator_fail("cuFileRead", 1, -CU_FILE_IO_ERROR);
  CHECK(cuFileRead(file, device, SIZE, 0, 0) == -CU_FILE_IO_ERROR);
#if EMULATOR_MAJOR >= 13
  CUfileIOVec_t vectors[] = {{device, 4096}, {device + 8192, 4096}};
  fill(device, 9);
  CHECK(cuFileReadv(file, vectors, 2, 0, 0) == 8192);
  CHECK(byte_at(device, 4095) == 5 && byte_at(device, 4096) == 9 && byte_at(device, 12287) == 5);
  CHECK(cuFileWritev(file, vectors, 2, 0, 0) == 8192);
  CHECK(cuFileReadv(file, vectors, 0, 0, 0) == -1 && errno == EINVAL);
#endif
  cuFileHandleDeregister(other);
  close(fd);
  CHECK(cuFileRead(file, device, SIZE, 0, 0) == -1 && errno == EBADF);
  MISUSE("is closed although its file is registered");
  cuFileHandleDeregister(file);
  close(only_read);
  OK(cudaFree(device));
  FINE(cuFileDriverClose_v2());
  CLEAN();
}

/* ---- batches ---- */

static CUfileIOParams_t operation(CUfileHandle_t file, char *base, long index, CUfileOpcode_t opcode) {
  return (CUfileIOParams_t){
      .mode = CUFILE_BATCH,
      .u.batch = {base, index * 4096, index * 4096, 4096},
      .fh = file,
      .opcode = opcode,
      .cookie = (void *) (index + 1)};
}

static void batches(void) {
  FINE(cuFileDriverOpen());
  int fd = open_file(O_RDWR);
  CUfileHandle_t file = register_file(fd);
  char *device = new_memory();
  fill(device, 3);
  CUfileBatchHandle_t batch;
  IS(CU_FILE_INVALID_VALUE, cuFileBatchIOSetUp(&batch, 129));
  FINE(cuFileBatchIOSetUp(&batch, 4));
  CUfileIOParams_t operations[5];
  for (long i = 0; i < 5; i++) {
    operations[i] = operation(file, device, i, CUFILE_WRITE);
  }
  CUfileIOEvents_t events[8];
  struct kvtier_timespec second = {60, 0};
  struct kvtier_timespec moment = {0, 1000000};
  IS(NEWER_ERROR(CU_FILE_INTERNAL_BATCH_SUBMIT_ERROR, CU_FILE_BATCH_SUBMIT_FAILED), cuFileBatchIOSubmit(batch, 5, operations, 0));
  operations[1].fh = device;
  IS(CU_FILE_HANDLE_NOT_REGISTERED, cuFileBatchIOSubmit(batch, 2, operations, 0));
  MISUSE("is no registered file");
  operations[1].fh = file;
  kvtier_emulator_hold_streams(1);
  FINE(cuFileBatchIOSubmit(batch, 3, operations, 0));
  IS(CU_FILE_BATCH_FULL, cuFileBatchIOSubmit(batch, 2, operations, 0));
  unsigned int count = 8;
  FINE(cuFileBatchIOGetStatus(batch, 1, &count, events, &moment));
  CHECK(count == 0);
  kvtier_emulator_fail("cuFileBatchIOSubmit@operation", 2, -CU_FILE_IO_ERROR);
  kvtier_emulator_short("cuFileBatchIOSubmit@operation", 3, 512);
  kvtier_emulator_hold_streams(0);
  count = 8;
  FINE(cuFileBatchIOGetStatus(batch, 3, &count, events, &second));
  CHECK(count == 3);
  CHECK(events[0].cookie == (void *) 1 && events[0].status == CUFILE_COMPLETE && events[0].ret == 4096);
  CHECK(events[1].cookie == (void *) 2 && events[1].status == CUFILE_FAILED && (ssize_t) events[1].ret == -CU_FILE_IO_ERROR);
  CHECK(events[2].cookie == (void *) 3 && events[2].status == CUFILE_COMPLETE && events[2].ret == 512);
  IS(CU_FILE_INVALID_VALUE, cuFileBatchIOGetStatus(batch, 9, &count, events, &second));
  kvtier_emulator_hold_streams(1);
  FINE(cuFileBatchIOSubmit(batch, 2, operations, 0));
  FINE(cuFileBatchIOCancel(batch));
  count = 8;
  FINE(cuFileBatchIOGetStatus(batch, 2, &count, events, &second));
  CHECK(count == 2 && events[0].status == CUFILE_CANCELED);
  FINE(cuFileBatchIOSubmit(batch, 1, operations, 0));
  cuFileBatchIODestroy(batch);
  MISUSE("the batch has pending operations");
  IS(NEWER_ERROR(CU_FILE_INVALID_CONTEXT_ERROR, CU_FILE_INVALID_VALUE), cuFileBatchIOCancel(batch));
  MISUSE("is no batch any more");
  kvtier_emulator_hold_streams(0);
  cuFileHandleDeregister(file);
  close(fd);
  OK(cudaFree(device));
  FINE(cuFileDriverClose_v2());
  CLEAN();
}

/* ---- statistics ---- */

static void statistics(void) {
#if EMULATOR_MAJOR >= 13
  CUfileStatsLevel1_t counts;
  IS(CU_FILE_INVALID_VALUE, cuFileSetStatsLevel(4));
  IS(CU_FILE_DRIVER_NOT_INITIALIZED, cuFileStatsStart());
  IS(CU_FILE_DRIVER_NOT_INITIALIZED, cuFileGetStatsL1(&counts));
  FINE(cuFileDriverOpen());
  IS(CU_FILE_INTERNAL_ERROR, cuFileStatsStart());
  FINE(cuFileSetStatsLevel(1));
  FINE(cuFileStatsStart());
  int fd = open_file(O_RDWR);
  CUfileHandle_t file = register_file(fd);
  char *device = new_memory();
  CHECK(cuFileWrite(file, device, SIZE, 0, 0) == (ssize_t) SIZE);
  CHECK(cuFileRead(file, device, SIZE, SIZE - 1, 0) == 1);
  CHECK(cuFileRead(file, device, SIZE, -1, 0) < 0);
  FINE(cuFileGetStatsL1(&counts));
  CHECK(counts.write_ops.ok == 1 && counts.read_ops.ok == 1 && counts.read_ops.err == 1);
  CHECK(counts.write_bytes == SIZE && counts.read_bytes == SIZE && counts.write_lat_sum_us > 0);
  FINE(cuFileStatsReset());
  FINE(cuFileGetStatsL1(&counts));
  CHECK(counts.write_ops.ok == 0);
  FINE(cuFileStatsStop());
  IS(CU_FILE_INVALID_VALUE, cuFileGetStatsL1(&counts));
  IS(CU_FILE_INTERNAL_ERROR, cuFileStatsStart());
  FINE(cuFileSetStatsLevel(0));
  FINE(cuFileSetStatsLevel(1));
  FINE(cuFileStatsStart());
  cuFileHandleDeregister(file);
  close(fd);
  OK(cudaFree(device));
  FINE(cuFileDriverClose_v2());
  FINE(cuFileDriverOpen());
  IS(CU_FILE_INVALID_VALUE, cuFileGetStatsL1(&counts));
  FINE(cuFileDriverClose_v2());
#endif
  CLEAN();
}

/* ---- streams ---- */

static void in_a_stream(void) {
  FINE(cuFileDriverOpen());
  int fd = open_file(O_RDWR);
  CUfileHandle_t file = register_file(fd);
  char *device = new_memory();
  fill(device, 0);
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  size_t size = 1;
  off_t file_offset = 0;
  off_t base_offset = 0;
  ssize_t moved = -77;
  kvtier_emulator_hold_streams(1);
  OK(cudaMemsetAsync(device, 8, SIZE, stream));
  FINE(cuFileWriteAsync(file, device, &size, &file_offset, &base_offset, &moved, stream));
  size = SIZE;
  kvtier_emulator_hold_streams(0);
  OK(cudaStreamSynchronize(stream));
  CHECK(moved == (ssize_t) SIZE);
  char byte;
  CHECK(pread(fd, &byte, 1, SIZE - 1) == 1 && byte == 8);
  FINE(cuFileStreamRegister(stream, CU_FILE_STREAM_FIXED_FILE_SIZE | CU_FILE_STREAM_PAGE_ALIGNED_INPUTS));
  IS(CU_FILE_INVALID_VALUE, cuFileStreamRegister(stream, 0));
  kvtier_emulator_hold_streams(1);
  size = 8192;
  FINE(cuFileReadAsync(file, device, &size, &file_offset, &base_offset, &moved, stream));
  size = 100;
  FINE(cuFileStreamDeregister(stream));
  MISUSE("the stream has pending I/O");
  cuFileHandleDeregister(file);
  MISUSE("is used by pending I/O");
  OK(cudaFree(device));
  MISUSE("is used by pending cuFileReadAsync");
  kvtier_emulator_hold_streams(0);
  OK(cudaStreamSynchronize(stream));
  CHECK(moved == -CU_FILE_CUDA_POINTER_INVALID);
  MISUSE("is device memory that is not allocated");
  file = register_file(fd);
  device = new_memory();
  kvtier_emulator_fail("cuFileReadAsync@stream", 1, EIO);
  FINE(cuFileReadAsync(file, device, &size, &file_offset, &base_offset, &moved, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(moved == -EIO);
  FINE(cuFileStreamRegister(stream, CU_FILE_STREAM_PAGE_ALIGNED_INPUTS));
  FINE(cuFileReadAsync(file, device, &size, &file_offset, &base_offset, &moved, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(moved == -CU_FILE_INVALID_VALUE);
  MISUSE("registered for aligned inputs");
  FINE(cuFileStreamDeregister(stream));
  OK(cudaStreamDestroy(stream));
  cuFileHandleDeregister(file);
  close(fd);
  OK(cudaFree(device));
  FINE(cuFileDriverClose_v2());
  CLEAN();
}

int main(void) {
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  driver();
  registration();
  round_trip();
  batches();
  statistics();
  in_a_stream();
  unlink(path);
  puts("all well");
  return 0;
}
