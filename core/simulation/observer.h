#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/model/records.h"
#include "core/simulation/report.h"
#include "core/simulation/waits.h"

namespace hostler::simulation {

/// Sees the rows that the dispatcher writes, and counts.
class Observer {
 public:
  void see(const std::vector<model::Change>& changes, Duration now);
  /// A job was accepted.
  void submitted(model::WorkId id, Duration at, double vcpus);
  void refused(std::uint64_t jobs, const std::string& why);
  [[nodiscard]] std::int64_t waiting() const { return now_.waiting; }
  /// Jobs that have ended since the last call.
  [[nodiscard]] std::vector<model::WorkId> take_ended();
  /// All that it can tell. `report` keeps its other members.
  void complete(Report& report);

 private:
  struct JobSeen {
    Duration submitted{};
    double vcpus = 0;
    model::WorkState state = model::WorkState::kQueued;
    std::uint32_t attempt = 0;
    Duration running_since{};
  };
  struct HostSeen {
    model::InstanceState state = model::InstanceState::kRequested;
    bool is_made = false;  ///< Its cloud has created it.
  };

  void see(const model::WorkRecord& row, Duration now);
  void see(const model::InstanceRecord& row);
  void count(model::InstanceState state, std::int64_t by);
  void end(model::WorkId id, model::WorkState state);
  void sample(Duration now);

  Report report_;
  std::map<model::WorkId, JobSeen> jobs_;
  std::map<model::InstanceId, HostSeen> hosts_;
  std::vector<model::WorkId> ended_;
  Waits waits_;
  Sample now_;
  Duration sample_interval_ = std::chrono::seconds(1), next_sample_{};
};

}  // namespace hostler::simulation
