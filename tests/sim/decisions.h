#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/dispatch/dispatcher.h"
#include "tests/sim/disk.h"

namespace hostler::sim {

/// What caused a decision.
struct Cause {
  std::optional<model::InstanceId> host;  ///< A report of this host.
  bool is_broken = false;                 ///< It says that the host is broken.
  explicit Cause(const dispatch::Event& event);
  Cause() = default;
};

/// Checks the decisions of the daemon as they are made, before they are durable: what users and
/// hosts can make it do.
class Decisions {
 public:
  using IsMadeFor = std::function<bool(model::InstanceId, const model::WorkShape&)>;
  /// `is_made_for`: the host is new, and was made for jobs of this shape.
  Decisions(const Disk& disk, IsMadeFor is_made_for, Disk::Complain complain)
      : disk_(disk), is_made_for_(std::move(is_made_for)), complain_(std::move(complain)) {}

  /// A daemon starts: decisions that were not durable were never made.
  void restart();
  void check(const Cause& cause, const dispatch::Outbox& outbox, const dispatch::Queries& queries,
             Now now);

 private:
  struct Job {
    std::string principal;
    model::WorkShape shape;
    model::WorkState state{};
    model::InstanceId instance;
    Wall placed, ended;
    Mono since;  ///< Since when it waits.
  };
  struct Start {
    Job job;
    model::InstanceId instance;
    std::set<std::string> rivals;  ///< Users whose jobs could have started in its place.
  };
  /// Of one shape, by principal: since when each waits.
  using Waiting = std::map<std::string, std::multiset<Mono>>;

  void on(const model::WorkItem& row);
  void on(const model::WorkChanged& row);
  void on(const model::AttemptChanged& row);
  template <class Row>
  void on(const Row& row) {
    (void)row;
  }
  void check_news(const std::string& what, model::InstanceId before, model::InstanceId after);
  void check_bill(const std::string& what, const Job& job, Wall started, Wall ended);
  void check_quotas(const model::SitePolicy& policy);
  void check_turns(const dispatch::Queries& queries);
  [[nodiscard]] std::set<std::string> rivals_of(const Job& job, model::InstanceId host) const;
  [[nodiscard]] bool has_waited(const model::WorkShape& shape, Duration time) const;
  void waits(const Job& job);
  void waits_no_more(const Job& job);

  const Disk& disk_;
  IsMadeFor is_made_for_;
  Disk::Complain complain_;
  Cause cause_;
  Now now_;
  std::map<model::WorkId, Job> jobs_;  ///< That have not ended.
  std::map<model::WorkShape, Waiting> waiting_;
  std::map<model::WorkShape, Mono> starved_;  ///< When the last one started that had waited long.
  std::vector<Job> accepted_;                 ///< By the present decision.
  std::vector<Start> starts_;                 ///< Likewise.
  std::set<model::InstanceId> broken_;
  std::map<std::string, std::vector<Mono>> submits_;  ///< Accepted since the daemon's start.
};

}  // namespace hostler::sim
