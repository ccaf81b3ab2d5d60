/*
 * How tests steer the emulator. All of it is exported by the emulated CUDA runtime, which the emulated cuFile shares.
 *
 * A function is named as in its header, for example "cudaMalloc". "cudaMemcpyAsync@stream" names the same call at the moment
 * when its stream executes it. nth counts the uses from now on: 1 is the next one.
 */
#ifndef KVTIER_EMULATOR_CONTROL_H
#define KVTIER_EMULATOR_CONTROL_H

/*
 * That use does nothing and returns the code; a call that frees or destroys does so all the same, as the real ones do when they
 * only tell of an earlier error. Codes 214, 700, 702 and 719 end the context: all further calls return them, until
 * kvtier_emulator_reset. For cuFile calls that return CUfileError_t the code is its err. For those that return a number of bytes
 * a negative code is returned as it is (-5030), and a positive one is an errno: -1 is returned and errno set. With 5011 the
 * second code of CUfileError_t is 700.
 */
void kvtier_emulator_fail(const char *function, long nth, int code);
/*
 * That use of a cuFile I/O call moves at most so many bytes. In a batch it is "cuFileBatchIOSubmit@operation", which counts each
 * operation; in a stream "cuFileReadAsync@stream". All plans can be made for these; a failing one fails the one operation only.
 */
void kvtier_emulator_short(const char *function, long nth, long bytes);
/* That use blocks until kvtier_emulator_release. */
void kvtier_emulator_stall(const char *function, long nth);
void kvtier_emulator_release(void);
/* Returns how many calls are stalled now. */
long kvtier_emulator_stalled(void);
/* 1: the streams, and the batches of cuFile, execute nothing until 0. */
void kvtier_emulator_hold_streams(int hold);
/* Forgets plans, reports and a lost context; releases what is stalled or held. Objects live on. */
void kvtier_emulator_reset(void);
/*
 * Writes the reports and the live objects, one per line, NUL at the end; returns the number of lines. Lines begin with
 * "misuse: " (a rule was broken), "live: " (not released), "plan: " (planned, but its use has not come) or "note: " (allowed,
 * but worth knowing).
 */
long kvtier_emulator_report(char *text, long size);
/* Forgets misuse and notes, and nothing else. */
void kvtier_emulator_forget_reports(void);
/* Returns the number of live objects: streams, events, memory, pools, registrations, files, buffers, batches. */
long kvtier_emulator_live(void);
/* Read and write device memory, whatever the streams do. */
void kvtier_emulator_peek(unsigned long device_address, void *host, unsigned long size);
void kvtier_emulator_poke(unsigned long device_address, const void *host, unsigned long size);
/* 0: a driver that sees no device; -1: no driver. At most 8. The default is 2, or KVTIER_EMULATOR_DEVICES. */
void kvtier_emulator_devices(int count);
/* 0: cuFile works directly; 1: in its compatibility mode, which is asked for at the next driver open. */
void kvtier_emulator_compat(int compat);
/* Returns how many times the function was called since the last reset. */
long kvtier_emulator_calls(const char *function);

#endif
