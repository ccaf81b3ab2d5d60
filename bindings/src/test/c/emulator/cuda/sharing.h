/* What goes from process to process: a ticket that names a file in the memory of its process. */
#ifndef KVTIER_EMULATOR_SHARING_H
#define KVTIER_EMULATOR_SHARING_H

#include "emulator.h"

enum ticket_kind { TICKET_MEMORY = 1, TICKET_EVENT = 2 };

struct ticket {
  int kind;
  int file;
  int device;
  size_t offset;
  size_t size;
};

/* Makes a file in memory that other processes can open by a ticket; -1 if that fails. */
int kve_shared_file(size_t size);
/* Writes the 64 bytes of a handle. */
void kve_ticket_write(char *handle, const struct ticket *ticket);
/* Reads the 64 bytes of a handle of another process and opens its file. */
cudaError_t kve_ticket_open(const char *handle, enum ticket_kind kind, struct ticket *ticket, int *file);

#endif
