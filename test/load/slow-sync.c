/*
 * Lets every sync take SYNC_US microseconds longer (default 1000), as on a disk that is not the host's memory:
 *   cc -shared -fPIC -o slow-sync.so test/load/slow-sync.c -ldl
 *   LD_PRELOAD=$PWD/slow-sync.so npm exec -- node --require ./test/register.cjs test/load/append.ts
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int slowed(const char *name, int file) {
  int (*sync)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  const char *given = getenv("SYNC_US");
  int result = sync(file);
  usleep(given == NULL ? 1000 : (useconds_t)atoi(given));
  return result;
}

int fsync(int file) { return slowed("fsync", file); }
int fdatasync(int file) { return slowed("fdatasync", file); }
