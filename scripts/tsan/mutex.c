// Tells the thread sanitizer what `Synchronization.Mutex` does when threads meet at it.
//
// The mutex is one word. Taking and leaving it when nobody else wants it is an atomic operation in our own,
// instrumented code, so the sanitizer sees it. When threads meet, the code in libswiftSynchronization asks the kernel
// (FUTEX_LOCK_PI, FUTEX_UNLOCK_PI), which changes the word itself: the sanitizer sees neither, and takes everything
// that the mutex guards for a race.
//
// This file is linked into what runs under the sanitizer, and only there. It stands in for the functions that ask the
// kernel, calls them, and says "whoever left it comes before whoever takes it", for that mutex's address: the order
// that the mutex really makes, no more. The names are the mangled ones of
//
//     Synchronization._MutexHandle._lockSlow(UInt32), ._tryLockSlow() -> Bool, ._unlockSlow()
//
// Should a later Swift rename them, false races come back and `scripts/test-tsan` stops at its own probe.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *address);
void __tsan_release(void *address);

SWIFT void glasswing_lock_slow(uint32_t thread, SELF mutex) __asm__(LOCK);
SWIFT bool glasswing_try_lock_slow(SELF mutex) __asm__(TRY_LOCK);
SWIFT void glasswing_unlock_slow(SELF mutex) __asm__(UNLOCK);

static SWIFT void (*real_lock)(uint32_t, SELF);
static SWIFT bool (*real_try_lock)(SELF);
static SWIFT void (*real_unlock)(SELF);

// Before any thread of the program's own.
__attribute__((constructor)) static void find(void) {
  real_lock = (SWIFT void (*)(uint32_t, SELF))dlsym(RTLD_NEXT, LOCK);
  real_try_lock = (SWIFT bool (*)(SELF))dlsym(RTLD_NEXT, TRY_LOCK);
  real_unlock = (SWIFT void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK);
  // A program that has no mutex finds none, and calls none.
}

SWIFT void glasswing_lock_slow(uint32_t thread, SELF mutex) {
  real_lock(thread, mutex);
  __tsan_acquire(mutex);
}

SWIFT bool glasswing_try_lock_slow(SELF mutex) {
  bool taken = real_try_lock(mutex);
  if (taken) __tsan_acquire(mutex);
  return taken;
}

SWIFT void glasswing_unlock_slow(SELF mutex) {
  __tsan_release(mutex);
  real_unlock(mutex);
}
