#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/model/records.h"

namespace hostler::sim {

/// Reasons to destroy a host that works and that no admin wanted to destroy.
[[nodiscard]] bool is_own_will(model::Reason reason);

/// The journal. Only committed changes survive a kill of the daemon. Checks all changes.
class Disk {
 public:
  /// Called for each broken rule.
  using Complain = std::function<void(const std::string&)>;
  explicit Disk(Complain complain) : complain_(std::move(complain)) {}

  void commit(const std::vector<model::Change>& changes);
  /// Forgets the jobs that had already ended at the previous call, and returns them.
  std::vector<model::WorkId> forget();
  /// The state that a start reads; increments the epoch.
  model::Restored open();
  /// The rows are those of an older copy from now on, and the next start goes on from them.
  void put_back(const Disk& older);
  /// Of the last start.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  [[nodiscard]] bool was_put_back() const { return restored_epoch_ != 0; }
  /// The number of work was given out after the older copy was made.
  [[nodiscard]] bool is_lost(model::WorkId id) const {
    return left_out_.contains(id.value) && id.value <= given_out_;
  }

  [[nodiscard]] const std::map<model::WorkId, model::WorkItem>& jobs() const { return jobs_; }
  /// Forgotten jobs, for the checks of the simulation only. A start does not read them.
  [[nodiscard]] const std::map<model::WorkId, model::WorkItem>& forgotten() const {
    return forgotten_;
  }
  /// The terms of a lease that is not forgotten.
  [[nodiscard]] const model::LeaseRecord& terms(model::WorkId lease) const {
    return leases_.at(lease);
  }
  [[nodiscard]] const model::InstanceChanged* instance(model::InstanceId id) const;
  /// The highest price that was reported of the type last, in any zone; if none was, the menu's.
  [[nodiscard]] std::int64_t known_price(const model::InstanceType& type) const;
  [[nodiscard]] const std::map<model::InstanceId, model::InstanceChanged>& instances() const {
    return instances_;
  }
  [[nodiscard]] const std::map<std::string, model::GateRecord>& gates() const { return gates_; }
  [[nodiscard]] std::vector<model::ImageRow> images() const;
  [[nodiscard]] std::vector<model::OfferedRow> offered() const {
    std::vector<model::OfferedRow> out;
    for (const auto& [key, row] : offered_) out.push_back(row);
    return out;
  }
  using RamReports = std::map<std::pair<std::string, std::string>, model::RamReport>;
  [[nodiscard]] const RamReports& ram_reports() const { return ram_reports_; }
  /// The ledger says that the thing of this id is to be destroyed.
  [[nodiscard]] bool has_leftover_intent(const std::string& id) const {
    return leftover_intents_.contains(id);
  }
  [[nodiscard]] const model::AttemptChanged* attempt(model::AttemptId id) const;

 private:
  void apply(const model::WorkItem& row);
  void apply(const model::WorkChanged& row);
  void apply(const model::LeaseChanged& row);
  void apply(const model::AttemptChanged& row);
  /// It was lost with its host and not seen to end; it is there, and its job goes on with it.
  [[nodiscard]] bool is_found_again(const model::AttemptChanged& known,
                                    const model::AttemptChanged& row) const;
  void apply(const model::InstanceChanged& row);
  void apply(const model::GateChanged& row) { gates_[row.record.key] = row.record; }
  void apply(const model::GateOpened& row) { gates_.erase(row.key); }
  void apply(const model::PriceRow& row);
  void apply(const model::SetAccount& row) { accounts_[row.set] = row; }
  void apply(const model::ImageRow& row) { images_[{row.set, row.query}] = row; }
  void apply(const model::ImageForgotten& row) { images_.erase({row.set, row.query}); }
  void apply(const model::PrincipalUse& row) { uses_[row.principal] = row; }
  void apply(const model::PusherRecord& row) { pushers_[row.pool] = row; }
  void apply(const model::OfferedRow& row) {
    offered_[{row.set, row.provider_type, row.market, row.zone}] = row;
  }
  void apply(const model::OfferedGone& row) {
    if (offered_.erase({row.set, row.provider_type, row.market, row.zone}) == 0)
      complain_("an offering that was not there is removed: " + row.provider_type);
  }
  void apply(const model::RamReport& row) { ram_reports_[{row.set, row.type}] = row; }
  void apply(const model::RamForgotten& row) { ram_reports_.erase({row.set, row.type}); }
  void apply(const model::GpuReport& row) {
    gpu_reports_[{row.set, row.type, row.kind, row.memory}] = row;
  }
  void apply(const model::GpuForgotten& row) {
    gpu_reports_.erase({row.set, row.type, row.kind, row.memory});
  }
  void apply(const model::LedgerRecord& row);

  Complain complain_;
  std::map<model::WorkId, model::WorkItem> jobs_, forgotten_;
  std::map<model::WorkId, model::LeaseRecord> leases_;
  std::vector<model::WorkId> ended_, ended_long_ago_;
  std::map<model::AttemptId, model::AttemptChanged> attempts_;
  std::map<model::InstanceId, model::InstanceChanged> instances_;
  std::map<std::string, model::GateRecord> gates_;
  std::set<std::pair<std::string, std::string>> client_keys_;
  model::Revision revision_ = 0;
  std::uint64_t last_job_ = 0, last_arrival_ = 0;  ///< No number is used twice.
  std::map<std::tuple<std::string, std::string, std::string, model::Market>, model::PriceRow>
      prices_;
  std::map<std::tuple<std::string, std::string, model::Market, std::string>, model::OfferedRow>
      offered_;
  std::map<std::string, model::SetAccount> accounts_;
  std::map<std::pair<std::string, std::string>, model::ImageRow> images_;
  std::map<std::string, model::PrincipalUse> uses_;
  std::map<std::string, model::PusherRecord> pushers_;
  RamReports ram_reports_;  ///< By set and type.
  std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, model::GpuReport>
      gpu_reports_;
  std::set<std::string> leftover_intents_;
  std::uint64_t epoch_ = 0;
  // Of --restored.
  model::LeftOut left_out_;
  std::uint64_t restored_epoch_ = 0;
  bool goes_on_ = false;
  std::uint64_t last_instance_ = 0;
  std::uint64_t given_out_ = 0;  ///< The highest number of work that was ever given out.
};

}  // namespace hostler::sim
