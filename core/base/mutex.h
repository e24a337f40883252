#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

/// Mutexes for the thread-safety analysis of clang (-Wthread-safety), which does not understand
/// std::mutex. For gcc the attributes are empty.
#ifdef __clang__
#define HOSTLER_THREAD_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define HOSTLER_THREAD_ATTRIBUTE(...)
#endif

/// For a member: it is read and written only while the mutex is held.
#define HOSTLER_GUARDED_BY(mutex) HOSTLER_THREAD_ATTRIBUTE(guarded_by(mutex))
/// For a function, or a lambda after its (): the caller holds these mutexes, before and after the
/// call.
#define HOSTLER_REQUIRES(...) HOSTLER_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
/// For a function: the caller must not hold these, because the function locks them or takes long.
#define HOSTLER_EXCLUDES(...) HOSTLER_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
/// For a function that locks these mutexes, and for a function that unlocks them.
#define HOSTLER_ACQUIRE(...) HOSTLER_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define HOSTLER_RELEASE(...) HOSTLER_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
/// For a function that is correct for a reason that clang cannot see; state the reason in a
/// comment.
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

/// Locks a mutex until the end of the scope, or until unlock().
class HOSTLER_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HOSTLER_ACQUIRE(mutex) : mutex_(&mutex) { mutex.lock(); }
  ~MutexLock() HOSTLER_RELEASE() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  /// Unlocks early. Call it at most once.
  void unlock() HOSTLER_RELEASE() {
    mutex_->unlock();
    mutex_ = nullptr;
  }

 private:
  Mutex* mutex_;
};

/// Unlocks a mutex that is held until the end of the scope, and locks it again.
class HOSTLER_THREAD_ATTRIBUTE(scoped_lockable) MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) HOSTLER_RELEASE(mutex) : mutex_(mutex) { mutex.unlock(); }
  ~MutexUnlock() HOSTLER_RELEASE() { mutex_.lock(); }  // RELEASE: for clang, the scope ends
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex& mutex_;
};

/// A std::condition_variable for Mutex. The caller holds the mutex before and after a wait. A
/// predicate that reads guarded members is `[this]() HOSTLER_REQUIRES(mutex_) { return ...; }`.
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
  /// False if the time has passed and the predicate is still false; likewise wait_until().
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
  /// The mutex as a unique_lock, which the standard library needs. The destructor leaves it locked.
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
