// Tells Thread Sanitizer what Synchronization.Mutex does when two threads meet at it.
//
// Its fast paths, a compare-and-swap, are inlined into the code that locks, so Thread Sanitizer sees
// them. The slow ones are functions of the library, which is not instrumented: the futex hands the
// lock from one thread to the other unseen. These stand before the library's, under the same names,
// and only add the edge that the lock makes: what one thread did before it unlocked, happened before
// what another does once it has locked. Linked by hand, into nothing but `make test-tsan`: see
// Tests/Sanitizers. Should a new Swift name them otherwise, false reports come back, no true one goes.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MUTEX_HANDLE "$s15Synchronization12_MutexHandleV"
#define LOCK_SLOW MUTEX_HANDLE "9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW MUTEX_HANDLE "12_tryLockSlowSbyF"
#define UNLOCK_SLOW MUTEX_HANDLE "11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

typedef SWIFT void lock_slow_function(uint32_t thread, SELF);
typedef SWIFT bool try_lock_slow_function(SELF);
typedef SWIFT void unlock_slow_function(SELF);

// The next of that name behind this program: the library's.
static void *library(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (function == NULL) {
    fprintf(stderr, "Tests/Sanitizers/Mutex.c: this Swift's Synchronization has no %s\n", name);
    abort();
  }
  return function;
}

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK_SLOW);
SWIFT void lock_slow(uint32_t thread, SELF) {
  ((lock_slow_function *)library(LOCK_SLOW))(thread, self);
  __tsan_acquire(self);
}

SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK_SLOW);
SWIFT bool try_lock_slow(SELF) {
  bool locked = ((try_lock_slow_function *)library(TRY_LOCK_SLOW))(self);
  if (locked) __tsan_acquire(self);
  return locked;
}

SWIFT void unlock_slow(SELF) __asm__(UNLOCK_SLOW);
SWIFT void unlock_slow(SELF) {
  __tsan_release(self);
  ((unlock_slow_function *)library(UNLOCK_SLOW))(self);
}
