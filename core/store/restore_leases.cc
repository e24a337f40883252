#include "core/store/restore_leases.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/store/rows.h"

namespace hostler::store {
namespace {

using model::WorkId;
using model::WorkKind;

/// The hosts of leases, also of those that were set aside.
using Lent = std::map<WorkId, model::InstanceId>;

template <class Record>
model::DamagedRow& set_aside(model::Restored& out, std::string key, std::string problem) {
  return out.damaged.emplace_back(
      model::DamagedRow{std::string(Table<Record>::kName), std::move(key), std::move(problem), {}});
}

Result<Lent> read_terms(Connection& connection, model::Restored& out) {
  constexpr int kTerms = 2;
  auto select = HOSTLER_TRY(connection.prepare(
      "SELECT w.id, w.instance, " + columns_sql<model::LeaseRecord>("l") +
      " FROM work w LEFT JOIN leases l ON l.id = w.id WHERE w.kind = " +
      std::to_string(static_cast<int>(WorkKind::kLease)) + " AND " + work_lives()));
  HOSTLER_TRY(select.start());
  Lent lent;
  while (HOSTLER_TRY(select.next())) {
    const WorkId id{static_cast<std::uint64_t>(select.i64(0)), WorkKind::kLease};
    lent[id] = {static_cast<std::uint64_t>(select.i64(1))};
    model::LeaseRecord terms;
    RowReader row(select, kTerms);
    fields(row, terms);
    if (select.i64(kTerms) == kNoNumber)
      set_aside<model::LeaseRecord>(out, id.text(), "there is no such row");
    else if (!row.ok())
      set_aside<model::LeaseRecord>(out, id.text(), row.problem());
    else
      out.leases.push_back(terms);
  }
  std::ranges::sort(out.leases, {}, &model::LeaseRecord::id);
  return lent;
}

/// A lease and its terms are there, or neither is. Takes those that are there out of `lent`.
void pair_terms(model::Restored& out, Lent& lent) {
  std::set<WorkId> with_terms, whole;
  for (const auto& terms : out.leases) with_terms.insert(terms.id);
  std::erase_if(out.work, [&](const model::WorkItem& item) {
    const auto& id = item.record.id;
    return id.kind == WorkKind::kLease && !with_terms.contains(id);
  });
  for (const auto& item : out.work)
    if (lent.erase(item.record.id) > 0) whole.insert(item.record.id);
  std::erase_if(out.leases, [&](const auto& terms) { return !whole.contains(terms.id); });
}

void set_host_aside(model::Restored& out, WorkId lease, model::InstanceId host) {
  const auto found = std::ranges::find(out.instances, host,
                                       [](const auto& instance) { return instance.record.id; });
  if (found == out.instances.end()) return;
  set_aside<model::InstanceRecord>(out, host.text(), "its lease " + lease.text() + " is damaged")
      .instance = std::move(found->record);
  out.instances.erase(found);
}

}  // namespace

Result<void> restore_leases(Connection& connection, model::Restored& out) {
  auto lent = HOSTLER_TRY(read_terms(connection, out));
  if (lent.empty()) return {};
  pair_terms(out, lent);
  for (const auto& [lease, host] : lent) set_host_aside(out, lease, host);
  return {};
}

}  // namespace hostler::store
