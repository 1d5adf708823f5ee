#if defined(__linux__)
#define _GNU_SOURCE
#include <link.h>
#endif

#include "CObservationTracking.h"

#ifdef COBSERVATIONTRACKING_KEEPS_ADDRESS

_Thread_local const uintptr_t *cobservationtracking_kept;

// The argument of `__tls_get_addr` in the platform's ABI for thread-local storage.
struct variable {
  size_t module;
  size_t offset;
};

extern void *__tls_get_addr(struct variable *);

static struct variable chosen;

struct search {
  uintptr_t address;
  size_t module;
  size_t size;
};

static int visit(struct dl_phdr_info *info, size_t size, void *context) {
  struct search *search = context;
  bool found = false;
  size_t tls_size = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_TLS) tls_size = header->p_memsz;
    if (header->p_type == PT_LOAD && search->address - start < header->p_memsz) found = true;
  }
  if (!found) return 0;
  search->module = info->dlpi_tls_modid;
  search->size = tls_size;
  return 1;
}

size_t cobservationtracking_find(const void *address) {
  struct search search = {(uintptr_t)address, 0, 0};
  dl_iterate_phdr(visit, &search);
  chosen.module = search.module;
  chosen.offset = 0;
  return search.module == 0 ? 0 : search.size / sizeof(uintptr_t);
}

uintptr_t cobservationtracking_word(size_t number) {
  struct variable variable = {chosen.module, number * sizeof(uintptr_t)};
  return *(const uintptr_t *)__tls_get_addr(&variable);
}

void cobservationtracking_choose(size_t number) { chosen.offset = number * sizeof(uintptr_t); }

bool cobservationtracking_is_set(void) {
  cobservationtracking_kept = __tls_get_addr(&chosen);
  return *cobservationtracking_kept != 0;
}

#else

size_t cobservationtracking_find(const void *address) { return 0; }
uintptr_t cobservationtracking_word(size_t number) { return 0; }
void cobservationtracking_choose(size_t number) {}
bool cobservationtracking_is_set(void) { return false; }

#endif
