#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"

/// Pushes of an outside scheduler about a pool that hostler sizes for it, and the answers.
/// An *agent* is the scheduler's own program on a host; it is not the agent of hostler.
namespace hostler::model {

using namespace std::chrono_literals;

/// Which name a scheduler has for an agent.
enum class AgentName : std::uint8_t {
  kInstance,  ///< Hostler's id, "h-7": init commands have it as HOSTLER_INSTANCE.
  kCloudId,
  kAddress,
};
const char* to_string(AgentName name);

/// `pools[].pushed`.
struct PushedPolicy {
  Duration max_age = 1min;        ///< Older information holds the pool. Also the term of a pusher.
  Duration shrink_after = 5min;   ///< An agent that is missing in pushes is awaited so long.
  Duration starting = 20min;      ///< After its create a host without agent counts as coming.
  Duration disconnected = 10min;  ///< After that a host without agent goes.
  AgentName agent_name = AgentName::kInstance;
  std::int32_t aux_per_agent = 100;  ///< Tasks without slots that one agent runs.
  Duration abandoned_after{};        ///< Without a push the pool empties then; 0: it never does.
  Duration lifetime_max{};           ///< An older host goes once it is idle; 0: no limit.
  friend bool operator==(const PushedPolicy&, const PushedPolicy&) = default;
};

inline constexpr std::size_t kPushBytesMax = std::size_t{4} * 1024 * 1024;
inline constexpr std::size_t kPushedAgentsMax = 20'000;
inline constexpr std::size_t kPushedTasksMax = 100'000;
inline constexpr std::size_t kPushedNameMax = 256;  ///< Bytes: session, agent, task, group.
inline constexpr std::int32_t kSlotsMax = 1'000'000;

struct PushedAgent {
  std::string name;
  bool is_idle = true;  ///< It runs no task, with or without slots.
  friend bool operator==(const PushedAgent&, const PushedAgent&) = default;
};
/// A task that waits: the scheduler found no room for it on its agents.
struct PushedTask {
  std::string id;
  std::int32_t slots = 0;
  std::string group;  ///< Empty: none.
  friend bool operator==(const PushedTask&, const PushedTask&) = default;
};
/// Checked: within the limits above, no agent and no task twice, no negative number.
struct Push {
  std::string session;         ///< Chosen by the pusher when it starts.
  std::uint64_t sequence = 0;  ///< Of this session: each push has a larger one.
  std::uint64_t seen = 0;      ///< The last answer that the pusher has acted on; 0: none.
  std::vector<PushedAgent> agents;
  std::vector<PushedTask> tasks;
  std::optional<std::int64_t> desired_new;        ///< In place of tasks: so many new hosts.
  std::map<std::string, std::int64_t> group_max;  ///< Slots that the tasks of a group may ask for.
  friend bool operator==(const Push&, const Push&) = default;
};

struct NeverFits {
  std::string id;
  std::vector<std::int64_t> slots_that_would_do;  ///< The nearest, smaller ones first.
  friend bool operator==(const NeverFits&, const NeverFits&) = default;
};
struct PushAnswer {
  std::uint64_t answer = 0;                 ///< Its number: above those of earlier answers.
  std::vector<std::string> going;           ///< Agents that hostler wants to end.
  std::vector<std::string> unknown_agents;  ///< Pushed agents that no instance of the pool has.
  std::vector<NeverFits> never_fits;
  friend bool operator==(const PushAnswer&, const PushAnswer&) = default;
};

/// The agent of one host by the last push. Stored.
enum class AgentReport : std::uint8_t {
  kNone,  ///< No push has listed it yet, or its pool is not pushed.
  kIdle,
  kBusy,
  kMissing,  ///< A push has listed it, and the last one has not.
};
const char* to_string(AgentReport report);

/// Who pushes for a pool: one row for each pool.
struct PusherRecord {
  std::string pool;
  std::string principal;
  std::string session;
  std::vector<std::string> superseded;  ///< Its earlier sessions, the last first, at most 16.
  friend bool operator==(const PusherRecord&, const PusherRecord&) = default;
};
inline constexpr std::size_t kSupersededMax = 16;

}  // namespace hostler::model
