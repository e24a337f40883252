#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/mutex.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {

/// What a driver may emit in one operation; hostler_host tells drivers these limits.
inline constexpr std::uint64_t kRecordsMax = 100'000;
inline constexpr std::uint64_t kRecordBytesMax = std::uint64_t{256} << 10U;
/// Of all texts in the records of one operation: what hostlerd may have to keep of a list.
inline constexpr std::uint64_t kOperationBytesMax = std::uint64_t{256} << 20U;

/// Receives the records that a driver emits in one operation: one at a time, a limited number, each
/// with a legal size (R15, R27).
///
/// Threads: any. The object has no lock of its own: its owner guards it with one mutex and passes
/// that mutex to accept() and wait().
class RecordIntake {
 public:
  /// Passes `record` to `take`, a `bool(const hostler_rec&)`, which runs without the mutex because
  /// it may be slow and may report a broken rule. Returns what `take` returned: whether the driver
  /// should go on. A record that breaks a rule is not passed on: sets `rule`, returns false.
  template <class Take>
  bool accept(const hostler_rec* record, Mutex& mutex, std::string& rule, const Take& take)
      HOSTLER_REQUIRES(mutex) {
    rule = broken_rule(record);
    if (!rule.empty()) return false;
    ++count_;
    bool go_on = false;
    {
      const Busy busy(*this);
      const MutexUnlock unlocked(mutex);
      go_on = take(*record);
    }
    // The record itself was used: the id of an instance must not get lost.
    if (!go_on) stopped_ = true;
    return go_on;
  }

  /// Whether accept() is running on some thread.
  [[nodiscard]] bool busy() const { return busy_; }
  /// Whether the driver was told to stop: the records may be incomplete.
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// Waits, without the mutex, until no accept() is running.
  void wait(Mutex& mutex) HOSTLER_REQUIRES(mutex) {
    idle_.wait(mutex, [this] { return !busy_; });
  }

 private:
  /// Marks the intake as busy. Created and destroyed with the mutex held.
  class Busy {
   public:
    explicit Busy(RecordIntake& intake) : intake_(intake) { intake_.busy_ = true; }
    ~Busy() {
      intake_.busy_ = false;
      intake_.idle_.notify_all();
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    RecordIntake& intake_;
  };

  [[nodiscard]] std::string broken_rule(const hostler_rec* record) const {
    if (busy_) return "R27: two records emitted at once";
    if (record == nullptr || record->struct_size < sizeof(hostler_rec)) {
      return "R15: a record without a size";
    }
    if (count_ == kRecordsMax)
      return "limit: more than " + std::to_string(kRecordsMax) + " records";
    return {};
  }

  Condition idle_;
  std::uint64_t count_ = 0;
  bool busy_ = false;
  bool stopped_ = false;
};

}  // namespace hostler::plugin_host
