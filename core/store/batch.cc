#include "core/store/batch.h"

#include <unordered_map>

namespace hostler::store {
namespace {

/// Takes changes in order and remembers the entry of each row.
class Collector {
 public:
  explicit Collector(Batch& batch) : batch_(batch) {}

  void operator()(const model::WorkItem& item) {
    inserted_[item.record.id] = batch_.inserted.size();
    batch_.inserted.push_back({&item, &item.record});
  }
  void operator()(const model::WorkChanged& change) {
    const auto* record = &change.record;
    if (const auto fresh = inserted_.find(record->id); fresh != inserted_.end()) {
      batch_.inserted[fresh->second].record = record;
      return;
    }
    const auto [known, added] = work_.try_emplace(record->id, batch_.work.size());
    if (added)
      batch_.work.push_back(record);
    else
      batch_.work[known->second] = record;
  }
  void operator()(const model::LeaseChanged& change) {
    batch_.leases[change.record.id] = &change.record;
  }
  void operator()(const model::AttemptChanged& change) {
    const auto [known, added] =
        attempts_[change.attempt.work].try_emplace(change.attempt.number, batch_.attempts.size());
    if (added) batch_.attempts.push_back({nullptr, nullptr, nullptr});
    auto& entry = batch_.attempts[known->second];
    entry.last = &change;
    if (!change.end) return;
    entry.end = &*change.end;
    if (!change.end->stdout_inline.empty() || !change.end->stderr_inline.empty())
      entry.output = &*change.end;
  }
  void operator()(const model::InstanceChanged& change) {
    const auto [known, added] = instances_.try_emplace(change.record.id, batch_.instances.size());
    if (added) batch_.instances.push_back({nullptr, nullptr, false});
    auto& entry = batch_.instances[known->second];
    entry.record = &change.record;
    if (change.create) entry.create = change.create.get();
    entry.erase_create = entry.erase_create || change.erase_create;
  }
  void operator()(const model::GateChanged& change) {
    batch_.gates[change.record.key] = &change.record;
  }
  void operator()(const model::GateOpened& change) { batch_.gates[change.key] = nullptr; }
  void operator()(const model::PriceRow& price) { batch_.prices.push_back(&price); }
  void operator()(const model::SetAccount& account) { batch_.accounts[account.set] = &account; }
  void operator()(const model::ImageRow& row) { batch_.images[{row.set, row.query}] = &row; }
  void operator()(const model::ImageForgotten& gone) {
    batch_.images[{gone.set, gone.query}] = nullptr;
  }
  void operator()(const model::PrincipalUse& use) { batch_.uses[use.principal] = &use; }
  void operator()(const model::PusherRecord& row) { batch_.pushers[row.pool] = &row; }
  void operator()(const model::OfferedRow& row) {
    batch_.offered[{row.set, row.provider_type, row.market, row.zone}] = &row;
  }
  void operator()(const model::OfferedGone& row) {
    batch_.offered[{row.set, row.provider_type, row.market, row.zone}] = nullptr;
  }
  void operator()(const model::RamReport& row) { batch_.ram_reports[{row.set, row.type}] = &row; }
  void operator()(const model::RamForgotten& gone) {
    batch_.ram_reports[{gone.set, gone.type}] = nullptr;
  }
  void operator()(const model::GpuReport& row) {
    batch_.gpu_reports[{row.set, row.type, row.kind, row.memory}] = &row;
  }
  void operator()(const model::GpuForgotten& gone) {
    batch_.gpu_reports[{gone.set, gone.type, gone.kind, gone.memory}] = nullptr;
  }
  void operator()(const model::LedgerRecord& record) { batch_.ledger.push_back(&record); }

 private:
  Batch& batch_;
  std::unordered_map<model::WorkId, std::size_t> inserted_, work_;
  std::unordered_map<model::WorkId, std::map<std::uint32_t, std::size_t>> attempts_;
  std::unordered_map<model::InstanceId, std::size_t> instances_;
};

}  // namespace

Batch make_batch(std::span<const model::Commit* const> commits) {
  Batch batch;
  Collector collect(batch);
  for (const auto* commit : commits)
    for (const auto& change : commit->changes) std::visit(collect, change);
  return batch;
}

}  // namespace hostler::store
