#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"

namespace hostler::check {

/// Says of a skip that there is no cloud to try it with.
inline constexpr std::string_view kNoCloud = "cloud";
/// Says of a skip that the cloud, its quota or the budget allows too few machines.
inline constexpr std::string_view kNoRoom = "room";

/// What a test has found. A failure cites a rule of sdk/rules.md, "R28", or one of these words:
/// config, crash, kit, limit, machine, refused, replay.
struct Finding {
  enum class Kind : char { kFail = 'F', kWarning = 'W', kNote = 'N', kSkip = 'S' };
  Kind kind = Kind::kNote;
  std::string rule;  ///< Of failures and most warnings; of a skip kNoCloud, kNoRoom or empty.
  std::string call;  ///< The function of the driver that it is about; empty: none.
  std::string text;
  /// Names of later tests that have given the same warning, which is reported once.
  std::vector<std::string> also_in = {};
};

/// What a test finds, in memory that its process shares with the kit: it outlives that process,
/// however it ends, and there is no descriptor of it that a driver could close or write to.
///
/// Threads: add() and enter() on any. What the kit reads may have been damaged by the driver: it is
/// cut, and made printable.
class Findings {
 public:
  /// `secrets`: hidden in texts, in the order of longest_first().
  explicit Findings(std::vector<std::string> secrets = {});
  ~Findings();
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  void fail(std::string_view rule, std::string_view call, std::string_view text);
  void warn(std::string_view rule, std::string_view call, std::string_view text);
  void note(std::string_view text);
  /// The test cannot be made here: "the set does not open: ...".
  void skip(std::string_view reason);
  /// The same, because there is no cloud to try it with.
  void skip_without_cloud(std::string_view reason);
  /// The test cannot be made: the cloud, its quota or the budget allows too few machines.
  void skip_without_room(std::string_view reason);
  /// The process has ended, or ends now: a failure, or a warning after allow_crash().
  void fail_at_end(std::string_view rule, std::string_view call, std::string_view text);
  /// A failure that only a signal handler can tell: takes no memory, `text` is one line already.
  void fail_in_signal(const char* rule, const char* call, const char* text);
  /// From now on a crash is a warning.
  void allow_crash();
  /// From now on for so long the test waits until the cloud allows more: that is not its own time.
  void waits(Duration time);
  [[nodiscard]] Duration waited() const;

  /// The driver's function that runs now; null: none. The text must be a literal.
  void enter(const char* call);
  [[nodiscard]] const char* call_now() const;
  /// The driver has called exit().
  void note_exit(int status);
  /// The test has come to its end.
  void finish();

  // For the kit, after the process has ended.
  [[nodiscard]] std::vector<Finding> all() const;
  [[nodiscard]] bool finished() const;
  /// The function in which the process has ended; empty: none.
  [[nodiscard]] std::string last_call() const;
  /// The status of the driver's exit(); -1: it has not called it.
  [[nodiscard]] int exit_status() const;
  [[nodiscard]] bool has_failed() const;

 private:
  struct Shared;
  void add(Finding::Kind kind, std::string_view rule, std::string_view call, std::string_view text);
  void append(const char* bytes, std::size_t size);

  const std::vector<std::string> secrets_;
  Shared* shared_;
};

}  // namespace hostler::check
