// Preloaded into a relay (LD_PRELOAD), this library makes its wall clock wrong:
//
//   CLOCK_OFFSET_S  how far it is ahead, in seconds; may be negative
//
// The monotonic clock is left alone, as by a machine whose date was set wrongly.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static time_t offset;
static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("CLOCK_OFFSET_S");
  offset = text ? atol(text) : 0;
  real_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  // Another library's constructor may have come first.
  if (!real_clock_gettime) begin();
  int code = real_clock_gettime(clock, time);
  if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += offset;
  return code;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  int code = clock_gettime(CLOCK_REALTIME, &now);
  if (code == 0) *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return code;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
