#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/ids.h"
#include "core/model/resources.h"

/// Copies of those parts of the dispatcher's state that only a dump shows.
namespace hostler::model {

/// What the dispatcher does by itself at a time.
struct TimerView {
  Wall at;                 ///< Never in the past: what is due is of now.
  std::string of;          ///< "h-7", "set west", "pool default", "gate KEY", "l-3" or "site".
  const char* what = "";   ///< A constant word: "boot_timeout".
  std::string about = {};  ///< A type, an image query or a source; empty: the whole of it.
};
/// A call to a cloud whose answer is still to come.
struct CallView {
  std::string of;             ///< "h-7" or "set west".
  const char* call = "";      ///< A constant word: "create".
  std::string about = {};     ///< As of TimerView.
  std::optional<Wall> since;  ///< When it was made; unset: not kept.
};
/// How many hosts a pool is to have.
struct TargetView {
  struct Number {
    const char* bound = "";  ///< A constant word: "started_max".
    std::int64_t number = 0;
    std::string because;  ///< Who says so, and why: "config", "pushed: 7 tasks".
  };
  std::string pool;
  std::vector<Number> numbers;  ///< Of the bounds that somebody has set.
  bool is_held = false;         ///< The numbers contradict each other: nothing is done by them.
};
/// All work of one kind that has not ended.
struct WorkCountView {
  const char* kind = "";                        ///< A constant word: "job", "lease".
  std::map<std::string, std::uint64_t> states;  ///< By state's name; without those of none.
};
/// A piece of work that has a part of a host, or the whole.
struct PlacedView {
  WorkId work;
  std::uint32_t attempt = 0;  ///< 0: this kind of work has none.
  InstanceId host;
  Resources needs;
  std::optional<Wall> started;  ///< When its host reported that it runs.
  bool collecting = false;      ///< It has ended; its output is still to come.
};

/// All of these, of one moment.
struct DumpParts {
  std::vector<TargetView> targets;  ///< Of each pool.
  std::vector<WorkCountView> work;  ///< Of each kind.
  std::vector<PlacedView> placed;   ///< By host.
  std::vector<CallView> calls;      ///< Of sets, then of hosts.
  std::vector<TimerView> timers;    ///< The first one first.
};

}  // namespace hostler::model
