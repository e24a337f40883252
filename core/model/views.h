#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/host.h"
#include "core/model/records.h"

/// What the loop shows of itself; copies, for other threads.
namespace hostler::model {

struct WaitingView {
  WaitingCode code = WaitingCode::kPlanning;
  std::string reason;
  std::uint64_t ahead = 0;
};
struct InstanceView {
  InstanceRecord record;
  Resources total, used;
  std::vector<AttemptId> attempts;
  std::optional<StandingKeyAlarm> key_alarm;
};
struct PoolView {
  std::string name;
  std::int32_t min = 0, max = 0, standby = 0, stopped = 0;
  std::map<std::string, std::uint64_t> instances;  ///< By state's name.
  Micros price_per_hour;
};
struct SetView {
  std::string name;
  bool open = false;
  bool foreign_owner = false;
  std::string problem;  ///< Last error of open or list; empty: none.
};
/// What was spent from `since` to `until`, and on what.
struct CostView {
  struct Row {
    std::string name;  ///< "user ann", "j-42", "h-7", "default": by what was asked.
    Micros cost;
    std::int64_t used_us = 0;  ///< Together: time that jobs ran, or that instances were on.
  };
  Wall since, until;
  std::optional<Micros> total;   ///< Of all instances; unset for who may not know of them.
  std::optional<Micros> unused;  ///< Of that what no job had; likewise.
  std::vector<Row> rows;         ///< Dearest first.
  bool more = false;             ///< There are more rows than were asked for.
};
struct RejectedView {
  std::string type, zone, market, pool, reason;
};

/// Jobs of one shape that wait.
struct DemandView {
  std::uint64_t jobs = 0;
  Resources needs;
  WaitingView waiting;
};
/// What stands behind a job, pool or gate as it is; what does not go with it is empty.
struct ReasonsView {
  std::vector<DemandView> demand;       ///< What it may serve, or holds back; in the queue's order.
  std::vector<RejectedView> rejected;   ///< Candidates that the last plan did not take, or may not.
  std::string ceiling;                  ///< What stands in the way of one more instance.
  std::vector<LedgerRecord> decisions;  ///< The scheduler's last, since the start; oldest first.
};

/// Counts for metrics and health.
struct Totals {
  std::array<std::uint64_t, 4> jobs{};  ///< queued, starting, running, collecting
  std::map<std::pair<std::string, std::string>, std::uint64_t> instances;  ///< (state, type)
  Micros price_per_hour;
  Duration oldest_wait{};
  std::map<WaitingCode, std::uint64_t> waiting;  ///< Queued jobs by why they wait.
};

}  // namespace hostler::model
