#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/model/records.h"

namespace hostler::sim {

/// Reasons for which a host is ended that works well and that nobody asked to end.
[[nodiscard]] bool is_own_will(model::Reason reason);

/// The journal: what was committed, and nothing else, outlives the daemon. Checks what it is told.
class Disk {
 public:
  /// Hears of broken promises.
  using Complain = std::function<void(const std::string&)>;
  explicit Disk(Complain complain) : complain_(std::move(complain)) {}

  void commit(const std::vector<model::Change>& changes);
  /// Jobs that had ended when it was asked the last time, and all of them: they are gone.
  std::vector<model::WorkId> forget();
  /// What a start finds; raises the epoch.
  model::Restored open();

  [[nodiscard]] const std::map<model::WorkId, model::WorkItem>& jobs() const { return jobs_; }
  /// What the simulation still knows of them. No start finds these.
  [[nodiscard]] const std::map<model::WorkId, model::WorkItem>& forgotten() const {
    return forgotten_;
  }
  [[nodiscard]] const model::InstanceChanged* instance(model::InstanceId id) const;
  [[nodiscard]] const std::map<model::InstanceId, model::InstanceChanged>& instances() const {
    return instances_;
  }
  [[nodiscard]] const model::AttemptChanged* attempt(model::AttemptId id) const;

 private:
  void apply(const model::WorkItem& row);
  void apply(const model::WorkChanged& row);
  void apply(const model::AttemptChanged& row);
  void apply(const model::InstanceChanged& row);
  void apply(const model::GateChanged& row) { gates_[row.record.key] = row.record; }
  void apply(const model::GateOpened& row) { gates_.erase(row.key); }
  void apply(const model::PriceRow& row);
  void apply(const model::LedgerRecord& row);

  Complain complain_;
  std::map<model::WorkId, model::WorkItem> jobs_, forgotten_;
  std::vector<model::WorkId> ended_, ended_long_ago_;
  std::map<model::AttemptId, model::AttemptChanged> attempts_;
  std::map<model::InstanceId, model::InstanceChanged> instances_;
  std::map<std::string, model::GateRecord> gates_;
  std::set<std::pair<std::string, std::string>> client_keys_;
  model::Revision revision_ = 0;
  std::uint64_t last_job_ = 0, last_arrival_ = 0;  ///< Never given twice.
  std::map<std::tuple<std::string, std::string, std::string, model::Market>, model::PriceRow>
      prices_;
  std::uint64_t epoch_ = 0;
};

}  // namespace hostler::sim
