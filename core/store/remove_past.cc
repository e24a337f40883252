#include "core/store/remove_past.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/base/assert.h"
#include "core/model/instance.h"
#include "core/model/job.h"
#include "core/model/lease.h"
#include "core/store/in_list.h"
#include "core/store/meta.h"

namespace hostler::store {
namespace {

/// Work and instances, by number, and the subjects that name them in the ledger.
struct Subjects {
  std::vector<Value> names, work, instances;
  std::unordered_map<std::uint64_t, model::WorkId> work_ids;  ///< By number.

  void add(const std::string& subject) {
    names.emplace_back(subject);
    if (const auto id = model::WorkId::parse(subject)) {
      work.emplace_back(static_cast<std::int64_t>(id->value));
      work_ids.emplace(id->value, *id);
    } else if (const auto instance = model::InstanceId::parse(subject)) {
      instances.emplace_back(static_cast<std::int64_t>(instance->value));
    }
  }
};

bool is_whole(const std::string& subject) {
  return model::WorkId::parse(subject) || model::InstanceId::parse(subject);
}

Result<void> save_highest_numbers(Connection& connection) {
  struct Mark {
    const char *key, *sql;
  };
  for (const auto& [key, sql] :
       {Mark{"last_revision", "SELECT rev FROM ledger ORDER BY rev DESC LIMIT 1"},
        Mark{"last_work", "SELECT id FROM work ORDER BY id DESC LIMIT 1"},
        Mark{"last_arrival", "SELECT arrival FROM work_specs ORDER BY id DESC LIMIT 1"},
        Mark{"last_instance", "SELECT id FROM instances ORDER BY id DESC LIMIT 1"}}) {
    auto find = HOSTLER_TRY(connection.prepare(sql));
    const std::int64_t last = HOSTLER_TRY(find.next()) ? find.i64(0) : 0;
    // The last row may be older than one that was removed before, and may be damaged.
    if (last > 0 && last <= kNumberMax &&
        static_cast<std::uint64_t>(last) > HOSTLER_TRY(meta_number(connection, key)))
      HOSTLER_TRY(put_meta(connection, key, std::to_string(last)));
  }
  return {};
}

/// Runs `sql`, which ends in "IN (", for all of `keys`.
Result<void> run_for(Connection& connection, const std::string& sql,
                     const std::vector<Value>& keys) {
  if (keys.empty()) return {};
  auto statement = HOSTLER_TRY(connection.prepare(sql + in_list() + ")"));
  return run_in(statement, keys);
}

/// Likewise, calling `each` at every row.
Result<void> rows_for(Connection& connection, const std::string& sql,
                      const std::vector<Value>& keys,
                      const std::function<Result<void>(const Statement&)>& each) {
  if (keys.empty()) return {};
  auto statement = HOSTLER_TRY(connection.prepare(sql + in_list() + ")"));
  return for_each_in(statement, keys, each);
}

/// A row with a damaged state is kept.
bool has_ended(std::int64_t work_state) {
  return work_state >= static_cast<int>(model::WorkState::kSucceeded) &&
         work_state <= static_cast<int>(model::WorkState::kCancelled);
}

/// The work and the instances that have not ended, by number.
struct Live {
  std::unordered_set<std::uint64_t> work, instances;

  [[nodiscard]] bool has(const std::string& subject) const {
    if (const auto id = model::WorkId::parse(subject)) return work.contains(id->value);
    const auto instance = model::InstanceId::parse(subject);
    return instance && instances.contains(instance->value);
  }
};

Result<Live> live_ones(Connection& connection, const Subjects& subjects) {
  Live live;
  HOSTLER_TRY(rows_for(connection, "SELECT id, state FROM work WHERE id IN (", subjects.work,
                       [&](const Statement& row) -> Result<void> {
                         if (!has_ended(row.i64(1)))
                           live.work.insert(static_cast<std::uint64_t>(row.i64(0)));
                         return {};
                       }));
  HOSTLER_TRY(rows_for(connection, "SELECT id, state FROM instances WHERE id IN (",
                       subjects.instances, [&](const Statement& row) -> Result<void> {
                         if (row.i64(1) != static_cast<int>(model::InstanceState::kGone))
                           live.instances.insert(static_cast<std::uint64_t>(row.i64(0)));
                         return {};
                       }));
  return live;
}

/// The client key of a gang stands in the row of its first lease, which stays as long as another.
Result<Subjects> without_keys_of_gangs(Connection& connection, Subjects past) {
  static const std::string kSelect =
      "SELECT s.id, o.id FROM work_specs s CROSS JOIN work_specs o WHERE o.id > s.id AND "
      "o.id < s.id + " +
      std::to_string(model::kGangMax) +
      " AND o.gang = s.id AND s.gang = s.id AND s.client_key <> '' AND s.id IN (";
  std::unordered_set<std::uint64_t> kept;
  HOSTLER_TRY(rows_for(connection, kSelect, past.work, [&](const Statement& row) -> Result<void> {
    if (!past.work_ids.contains(static_cast<std::uint64_t>(row.i64(1))))
      kept.insert(static_cast<std::uint64_t>(row.i64(0)));
    return {};
  }));
  if (kept.empty()) return past;
  Subjects out;
  for (const Value& name : past.names) {
    const auto& subject = std::get<std::string>(name);
    const auto id = model::WorkId::parse(subject);
    if (!id || !kept.contains(id->value)) out.add(subject);
  }
  return out;
}

/// The work and instances in `records` that can be removed.
Result<Subjects> past_subjects(Connection& connection, const std::vector<PastRecord>& records,
                               Wall until) {
  Subjects all;
  std::vector<Value> revisions;  // one record of each
  std::unordered_set<std::string> seen;
  for (const auto& record : records) {
    if (!is_whole(record.subject) || !seen.insert(record.subject).second) continue;
    all.add(record.subject);
    revisions.emplace_back(static_cast<std::int64_t>(record.rev));
  }
  const auto live = HOSTLER_TRY(live_ones(connection, all));
  Subjects past;
  HOSTLER_TRY(
      rows_for(connection,
               "SELECT r.subject, (SELECT l.time_us FROM ledger l WHERE l.subject = r.subject "
               "ORDER BY l.rev DESC LIMIT 1) FROM ledger r WHERE r.rev IN (",
               revisions, [&](const Statement& row) -> Result<void> {
                 const auto subject = row.text(0);
                 if (!live.has(subject) && row.i64(1) < until.us) past.add(subject);
                 return {};
               }));
  return without_keys_of_gangs(connection, std::move(past));
}

Result<void> remove_work(Connection& connection, Outputs& outputs, const Subjects& past) {
  // Files first: after a crash in between the next run finds the rows and removes them.
  HOSTLER_TRY(rows_for(
      connection,
      // Inline output has a folder, too, if somebody has deleted it.
      "SELECT work, number FROM attempts WHERE work IN (", past.work, [&](const Statement& row) {
        const auto work = past.work_ids.find(static_cast<std::uint64_t>(row.i64(0)));
        HOSTLER_ASSERT(work != past.work_ids.end(), "only attempts of the given work are selected");
        return outputs.remove({work->second, static_cast<std::uint32_t>(row.i64(1))});
      }));
  HOSTLER_TRY(run_for(connection, "DELETE FROM attempts WHERE work IN (", past.work));
  HOSTLER_TRY(run_for(connection, "DELETE FROM leases WHERE id IN (", past.work));
  HOSTLER_TRY(run_for(connection, "DELETE FROM work_specs WHERE id IN (", past.work));
  return run_for(connection, "DELETE FROM work WHERE id IN (", past.work);
}

}  // namespace

Result<void> remove_past(Connection& connection, Outputs& outputs,
                         const std::vector<PastRecord>& records, Wall until, Tidied& result) {
  HOSTLER_TRY(save_highest_numbers(connection));
  std::vector<Value> others;
  for (const auto& record : records)
    if (!is_whole(record.subject)) others.emplace_back(static_cast<std::int64_t>(record.rev));
  HOSTLER_TRY(run_for(connection, "DELETE FROM ledger WHERE rev IN (", others));
  result.records += others.size();

  const auto past = HOSTLER_TRY(past_subjects(connection, records, until));
  HOSTLER_TRY(rows_for(connection, "SELECT COUNT(*) FROM ledger WHERE subject IN (", past.names,
                       [&](const Statement& row) -> Result<void> {
                         result.records += static_cast<std::uint64_t>(row.i64(0));
                         return {};
                       }));
  HOSTLER_TRY(run_for(connection, "DELETE FROM ledger WHERE subject IN (", past.names));
  HOSTLER_TRY(remove_work(connection, outputs, past));
  for (const auto& name : past.names)
    if (const auto id = model::WorkId::parse(std::get<std::string>(name)))
      result.work.push_back(*id);
  HOSTLER_TRY(run_for(connection, "DELETE FROM creates WHERE instance IN (", past.instances));
  HOSTLER_TRY(run_for(connection, "DELETE FROM instances WHERE id IN (", past.instances));
  result.instances += past.instances.size();
  return {};
}

}  // namespace hostler::store
