#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

/// Mutexes whose use clang checks: std::mutex says nothing to its thread-safety analysis
/// (-Wthread-safety). For gcc the words are empty.
#ifdef __clang__
#define HOSTLER_THREAD_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define HOSTLER_THREAD_ATTRIBUTE(...)
#endif

/// Of a member: read and written only while the mutex is held.
#define HOSTLER_GUARDED_BY(mutex) HOSTLER_THREAD_ATTRIBUTE(guarded_by(mutex))
/// Of a function, or of a lambda after its (): called only with these held, and leaves them so.
#define HOSTLER_REQUIRES(...) HOSTLER_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
/// Of a function: never called with these held, for it takes them, or takes long.
#define HOSTLER_EXCLUDES(...) HOSTLER_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
/// Of a function that returns with them taken; that is called with them held and lets go.
#define HOSTLER_ACQUIRE(...) HOSTLER_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define HOSTLER_RELEASE(...) HOSTLER_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
/// Of a function that is right for a reason that clang cannot know; say which.
#define HOSTLER_NO_THREAD_SAFETY_ANALYSIS HOSTLER_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace hostler {

class HOSTLER_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() HOSTLER_ACQUIRE() { native_.lock(); }
  void unlock() HOSTLER_RELEASE() { native_.unlock(); }

 private:
  friend class Condition;
  std::mutex native_;
};

/// Holds a mutex until the end of the scope, or less.
class HOSTLER_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HOSTLER_ACQUIRE(mutex) : mutex_(&mutex) { mutex.lock(); }
  ~MutexLock() HOSTLER_RELEASE() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  /// Once: for what comes after the last look at what is guarded.
  void unlock() HOSTLER_RELEASE() {
    mutex_->unlock();
    mutex_ = nullptr;
  }

 private:
  Mutex* mutex_;
};

/// Lets go of a mutex that is held, until the end of the scope.
class HOSTLER_THREAD_ATTRIBUTE(scoped_lockable) MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) HOSTLER_RELEASE(mutex) : mutex_(mutex) { mutex.unlock(); }
  ~MutexUnlock() HOSTLER_RELEASE() { mutex_.lock(); }  // clang: of the scope, not of the mutex
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex& mutex_;
};

/// std::condition_variable for a Mutex, which is held before a wait and after it. A condition that
/// looks at what is guarded is `[this]() HOSTLER_REQUIRES(mutex_) { return ...; }`.
class Condition {
 public:
  void notify_one() { native_.notify_one(); }
  void notify_all() { native_.notify_all(); }

  void wait(Mutex& mutex) HOSTLER_REQUIRES(mutex) {
    Adopted held(mutex);
    native_.wait(held.lock);
  }
  template <class Predicate>
  void wait(Mutex& mutex, Predicate until) HOSTLER_REQUIRES(mutex) {
    Adopted held(mutex);
    native_.wait(held.lock, std::move(until));
  }
  /// False if the time passed first, as for wait_until().
  template <class Rep, class Period, class Predicate>
  bool wait_for(Mutex& mutex, std::chrono::duration<Rep, Period> time, Predicate until)
      HOSTLER_REQUIRES(mutex) {
    Adopted held(mutex);
    return native_.wait_for(held.lock, time, std::move(until));
  }
  template <class Clock, class Duration, class Predicate>
  bool wait_until(Mutex& mutex, std::chrono::time_point<Clock, Duration> time, Predicate until)
      HOSTLER_REQUIRES(mutex) {
    Adopted held(mutex);
    return native_.wait_until(held.lock, time, std::move(until));
  }

 private:
  /// The mutex in the form that the standard's waits take; stays locked for whoever locked it.
  struct Adopted {
    explicit Adopted(Mutex& mutex) : lock(mutex.native_, std::adopt_lock) {}
    ~Adopted() { lock.release(); }
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;
    std::unique_lock<std::mutex> lock;
  };

  std::condition_variable native_;
};

}  // namespace hostler
