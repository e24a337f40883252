#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/mutex.h"
#include "core/plugin_host/driver_library.h"
#include "hostler/driver.h"
#include "sdk/check/host/lent_op.h"
#include "sdk/check/run/findings.h"

namespace hostler::check {

/// The tags of an instance as the driver emitted them: the host's own values leave most of them
/// out.
struct SeenTags {
  std::string id;
  std::vector<std::pair<std::string, std::string>> tags;
};

/// A driver's table in front of the driver's own: it has the same functions, and each call goes
/// through memory that is guarded. So the host of hostlerd itself makes the calls and judges them,
/// and the driver meets the strictest host there may be.
///
/// One in a process, which is a test's. Threads: any, but the settings only between calls.
class Relay {
 public:
  static Relay& get();

  /// Loads the driver. \return a library whose table is the relay's.
  Result<std::shared_ptr<const plugin_host::DriverLibrary>> load(const std::filesystem::path& file,
                                                                 Findings& findings,
                                                                 std::vector<std::string> secrets);

  // ---- settings
  void pretend(const Pretence& pretence) { pretence_ = pretence; }
  /// Growable structs of host and requests are longer from now on, as a later host's are.
  void be_later_host();

  [[nodiscard]] const hostler_driver& driver() const { return real_->table(); }
  [[nodiscard]] const plugin_host::DriverLibrary& library() const { return *real_; }
  [[nodiscard]] bool is_go() const;
  /// Of the instances emitted since the last call of this function, at most 10,000.
  std::vector<SeenTags> take_tags();
  /// Calls of set_close that have not returned.
  [[nodiscard]] int closes_running() const { return closes_running_; }
  /// Whether the driver has this extension.
  [[nodiscard]] bool has(const char* extension) const;

  // ---- for the relay's functions
  [[nodiscard]] Findings& findings() const { return *findings_; }
  [[nodiscard]] const Pretence& pretence() const { return pretence_; }
  [[nodiscard]] const OpEvents& events() const { return events_; }
  [[nodiscard]] std::size_t later_bytes() const { return later_bytes_; }
  /// What set_open gets: of the size that it says, before a page that nobody may touch.
  [[nodiscard]] const hostler_host* host() const { return host_; }
  /// Sets that are open.
  [[nodiscard]] std::size_t opens() const;
  void open_began();
  /// `set`: what set_open has given; nothing: it has failed.
  void open_ended(std::optional<const hostler_set*> set);
  void close_began() { ++closes_running_; }
  void close_ended(const hostler_set* set);
  /// Looks for secrets in what the driver says (R42).
  void look_at(const char* call, const char* where, std::string_view text);
  void take_line(const hostler_log_line* line);

 private:
  Relay();
  void take_record(const hostler_rec& record);
  void check_info(const hostler_set_info& info);
  void check_id(const hostler_instance& seen);
  [[nodiscard]] std::string why_too_late(const hostler_log_line& line);

  std::shared_ptr<const plugin_host::DriverLibrary> real_;
  Findings* findings_ = nullptr;
  std::vector<std::string> secrets_;
  OpEvents events_;
  Pretence pretence_;
  std::size_t later_bytes_ = 0;
  const hostler_host* host_ = nullptr;
  std::atomic<int> closes_running_{0};
  mutable Mutex mutex_;
  std::vector<SeenTags> tags_ HOSTLER_GUARDED_BY(mutex_);
  std::multiset<const hostler_set*> open_sets_ HOSTLER_GUARDED_BY(mutex_);
  int sets_opening_ HOSTLER_GUARDED_BY(mutex_) = 0;
  bool has_opened_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::map<std::string, std::string> keys_of_ids_ HOSTLER_GUARDED_BY(mutex_);
};

/// The relay's table of an extension; null where the driver has none. Throws what the driver
/// throws.
const void* relayed_extension(const char* id);

}  // namespace hostler::check
