#include "core/store/restore_leases.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/store/rows.h"

namespace hostler::store {
namespace {

using model::WorkId;
using model::WorkKind;
using model::WorkState;

/// The hosts of leases, also of those that were set aside. 0: none; unset: the row does not tell.
using Lent = std::map<WorkId, std::optional<model::InstanceId>>;

template <class Record>
model::DamagedRow& set_aside(model::Restored& out, std::string key, std::string problem) {
  return out.damaged.emplace_back(
      model::DamagedRow{std::string(Table<Record>::kName), std::move(key), std::move(problem), {}});
}

std::optional<model::InstanceId> host_of(std::int64_t state, std::int64_t instance) {
  const auto is = [&](WorkState one) { return state == static_cast<std::int64_t>(one); };
  if (is(WorkState::kQueued) || is(WorkState::kHeld)) return model::InstanceId{};
  if (instance < 0) return std::nullopt;
  return model::InstanceId{static_cast<std::uint64_t>(instance)};
}

Result<Lent> read_terms(Connection& connection, model::Restored& out) {
  constexpr int kTerms = 3;
  auto select = HOSTLER_TRY(connection.prepare(
      "SELECT w.id, w.state, w.instance, " + columns_sql<model::LeaseRecord>("l") +
      " FROM work w LEFT JOIN leases l ON l.id = w.id WHERE w.kind = " +
      std::to_string(static_cast<int>(WorkKind::kLease)) + " AND " + work_lives()));
  HOSTLER_TRY(select.start());
  Lent lent;
  while (HOSTLER_TRY(select.next())) {
    const WorkId id{static_cast<std::uint64_t>(select.i64(0)), WorkKind::kLease};
    lent[id] = host_of(select.i64(1), select.i64(2));
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

/// Work that has the terms of a lease, and is no lease by its own row: one of the two is damaged.
Result<void> read_other_kinds(Connection& connection, model::Restored& out, Lent& lent) {
  auto select = HOSTLER_TRY(connection.prepare(
      "SELECT w.id, w.state, w.instance FROM leases l CROSS JOIN work w WHERE w.id = l.id AND "
      "w.kind <> " +
      std::to_string(static_cast<int>(WorkKind::kLease)) + " AND " + work_lives()));
  HOSTLER_TRY(select.start());
  while (HOSTLER_TRY(select.next())) {
    const WorkId id{static_cast<std::uint64_t>(select.i64(0)), WorkKind::kLease};
    lent[id] = host_of(select.i64(1), select.i64(2));
    const auto is_it = [&](const auto& item) { return item.record.id.value == id.value; };
    if (std::erase_if(out.work, is_it) > 0)
      set_aside<model::WorkRecord>(out, id.text(), "it has the terms of a lease, and is none");
  }
  return {};
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

bool has_instance(const model::Restored& out, model::InstanceId id) {
  return std::ranges::find(out.instances, id, [](const auto& row) { return row.record.id; }) !=
         out.instances.end();
}

/// A lease ends with its host, or before it: a row that names no host that lives is damaged.
void set_hostless_aside(model::Restored& out, Lent& lent) {
  std::erase_if(out.work, [&](const model::WorkItem& item) {
    const auto found = lent.find(item.record.id);
    if (found == lent.end() || !found->second || *found->second == model::InstanceId{} ||
        has_instance(out, *found->second))
      return false;
    set_aside<model::WorkRecord>(out, item.record.id.text(),
                                 "its instance " + found->second->text() + " is not there");
    found->second.reset();
    return true;
  });
}

/// Work is on it, and it is not known which.
bool may_be_lent(const model::Restored& out, const model::InstanceRecord& record) {
  using model::InstanceState;
  const auto is_there = [&](const model::AttemptChanged& row) { return row.instance == record.id; };
  const auto has_it = [&](const model::WorkItem& item) {
    return item.record.id.kind == WorkKind::kLease && item.record.instance == record.id;
  };
  return (record.state == InstanceState::kBusy || record.state == InstanceState::kUnknown) &&
         std::ranges::none_of(out.attempts, is_there) && std::ranges::none_of(out.work, has_it);
}

void set_hosts_aside(model::Restored& out, WorkId lease, std::optional<model::InstanceId> host) {
  std::erase_if(out.instances, [&](const model::InstanceChanged& row) {
    if (host ? row.record.id != *host : !may_be_lent(out, row.record)) return false;
    set_aside<model::InstanceRecord>(out, row.record.id.text(),
                                     (host ? "its lease " : "perhaps it is lent to ") +
                                         lease.text() +
                                         (host ? " is damaged" : ", which is damaged"))
        .instance = row.record;
    return true;
  });
}

}  // namespace

Result<void> restore_leases(Connection& connection, model::Restored& out) {
  auto lent = HOSTLER_TRY(read_terms(connection, out));
  HOSTLER_TRY(read_other_kinds(connection, out, lent));
  if (lent.empty()) return {};
  set_hostless_aside(out, lent);
  pair_terms(out, lent);
  for (const auto& [lease, host] : lent) set_hosts_aside(out, lease, host);
  return {};
}

}  // namespace hostler::store
