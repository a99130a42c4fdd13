/*
 * Preloaded into a process: fsync and fdatasync fail with EIO while the file that FAILING_SYNC names exists. It holds how
 * many further calls still succeed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int refuses(void) {
  FILE *control = fopen(getenv("FAILING_SYNC"), "r+");
  if (control == NULL) return 0;
  int left = 0;
  if (fscanf(control, "%d", &left) == 1 && left > 0) {
    rewind(control);
    fprintf(control, "%d\n", left - 1);
    fclose(control);
    return 0;
  }
  fclose(control);
  errno = EIO;
  return 1;
}

int fsync(int file) {
  return refuses() ? -1 : ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
  return refuses() ? -1 : ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
