#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/random.h"
#include "core/base/time.h"

namespace hostler::driver_host {

using SteadyTime = std::chrono::steady_clock::time_point;
/// Number of a process, in the order of their starts.
using ChildId = std::uint64_t;

/// Decides when the processes of one set's driver are started, opened, closed and killed. There is
/// one process, but a second one takes the new calls while a call hangs in the first. Pure: time
/// and chance are arguments; the caller does what next() says.
///
///   starting -> ready -> opening -> open <-> hung
///   any -> closing or killed -> gone
///
/// Source of the figures: design of the driver ABI, section 4.3.
class Supervisor {
 public:
  struct Limits {
    Duration hello = std::chrono::seconds(5);  ///< From the start to the driver's table.
    Duration close = std::chrono::seconds(5);  ///< For set_close (R25).
    Duration ping_interval = std::chrono::seconds(10);
    Duration ping_timeout = std::chrono::seconds(30);
    Duration backoff_min = std::chrono::milliseconds(100);
    Duration backoff_max = std::chrono::seconds(60);
    std::size_t crashes_max = 5;  ///< In `crash_window`; from then on there are long pauses.
    Duration crash_window = std::chrono::minutes(10);
    Duration pause_min = std::chrono::seconds(60);
    Duration pause_max = std::chrono::minutes(10);
  };

  struct Start {
    ChildId child;
  };
  struct Open {
    ChildId child;
  };
  struct Ping {
    ChildId child;
  };
  /// The process closes its set and ends.
  struct Close {
    ChildId child;
  };
  struct Kill {
    ChildId child;
    std::string why;  ///< Empty: the set is being closed.
  };
  using Action = std::variant<Start, Open, Ping, Close, Kill>;

  explicit Supervisor(const Limits& limits, std::uint64_t seed) : limits_(limits), random_(seed) {}

  // ---- events
  /// The set is to be open. Also after a failed open: one more try.
  void want_open(SteadyTime now);
  /// No more processes; those that are there are closed once they are idle.
  void stop(SteadyTime now);
  void on_hello(ChildId child, SteadyTime now);
  void on_opened(ChildId child, SteadyTime now);
  void on_open_failed(ChildId child, SteadyTime now);
  void on_pong(ChildId child, SteadyTime now);
  /// A call has not ended in the time that a driver has after a cancel.
  void on_hang(ChildId child);
  /// It cannot read the files of now. Another process takes its place, as if a call hung in it. It
  /// says so again with each pong: after several in a row it goes on for a while, longer each time.
  void on_outdated(ChildId child, SteadyTime now);
  /// No such call is left in it.
  void on_recovered(ChildId child);
  /// The grace time of such a call is over.
  void on_abandoned(ChildId child, const std::string& function);
  /// `idle`: no call is in the process.
  void on_idle(ChildId child, bool idle);
  /// Whether this was a crash: nobody had told the process to end.
  bool on_exit(ChildId child, SteadyTime now);

  /// What is to be done now, in this order. Assumes that it is done.
  std::vector<Action> next(SteadyTime now);
  /// When next() may have something to do although no event has come. Nothing: never.
  [[nodiscard]] std::optional<SteadyTime> wakes_at() const;

  // ---- questions
  /// The process that takes new calls. Nothing: calls wait.
  [[nodiscard]] std::optional<ChildId> current() const;
  /// Whether a process takes new calls, or will once it is open.
  [[nodiscard]] bool has_successor() const;
  /// Whether two processes hang, so that there is none for new calls.
  [[nodiscard]] bool is_suspended() const;
  /// While the driver crashes too often: when it is started again.
  [[nodiscard]] std::optional<SteadyTime> paused_until(SteadyTime now) const;
  /// While processes say again and again that they are outdated: when one is replaced again.
  [[nodiscard]] std::optional<SteadyTime> goes_on_until(SteadyTime now) const;
  [[nodiscard]] bool has_children() const { return !children_.empty(); }
  [[nodiscard]] std::size_t crashes() const { return crashes_.size(); }

 private:
  enum class State : std::uint8_t { kStarting, kReady, kOpening, kOpen, kHung, kClosing, kKilled };
  struct Child {
    State state = State::kStarting;
    SteadyTime since;     ///< When the state began.
    SteadyTime answered;  ///< Its last sign of life.
    std::optional<SteadyTime> ping_sent = {};
    bool idle = true;
    bool expected_to_end = false;                 ///< Its end is no crash.
    std::optional<std::string> kill_reason = {};  ///< It is to be killed.
  };

  [[nodiscard]] static bool takes_calls_soon(const Child& child);
  void set_state(ChildId id, State state, SteadyTime now);
  void kill(Child& child, std::string why);
  std::optional<Action> next_of(ChildId id, Child& child, SteadyTime now);
  [[nodiscard]] std::optional<SteadyTime> wakes_at(const Child& child) const;
  [[nodiscard]] bool may_open() const;
  [[nodiscard]] bool needs_child() const;
  /// Notes one more event of this kind; how long to wait before the next process.
  [[nodiscard]] Duration delay_after(std::deque<SteadyTime>& earlier, SteadyTime now);

  const Limits limits_;
  Random random_;
  std::map<ChildId, Child> children_;
  ChildId last_ = 0;
  bool wanted_ = false;    ///< The set is to be open.
  bool try_open_ = false;  ///< The set has never been open, and one open is to be tried.
  bool was_open_ = false;
  bool stopping_ = false;
  std::deque<SteadyTime> crashes_;      ///< Of the last crash_window, as of the last crash.
  std::deque<SteadyTime> successions_;  ///< Of outdated ones, in the same window.
  SteadyTime next_start_, next_open_, next_succession_;
  Duration open_delay_{};
};

}  // namespace hostler::driver_host
