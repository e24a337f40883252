#include "core/store/tidy.h"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/text.h"
#include "core/model/job.h"
#include "core/store/files/folders.h"
#include "core/store/files/segments.h"
#include "core/store/in_list.h"

namespace hostler::store {
namespace {

// Small, as commits wait for a step.
constexpr std::size_t kRecordsPerStep = 500, kWorkPerStep = 200;
constexpr Duration kNeverYounger = 1h;  ///< A client may wait for the result.

Wall earlier(Wall time, Duration by) {
  return {time.us - std::chrono::duration_cast<std::chrono::microseconds>(by).count()};
}

/// Removes from `blobs` each quoted text of 64 characters in `body`: all hashes of inputs, and
/// maybe others.
void keep_needed(std::string_view body, std::set<std::string>& blobs) {
  for (std::size_t at = 0; (at = body.find('"', at)) != std::string_view::npos; ++at)
    if (at + 65 < body.size() && body[at + 65] == '"')
      blobs.erase(std::string(body.substr(at + 1, 64)));
}

}  // namespace

Tidy::Tidy(Places places, Keep keep, Wall now, std::vector<model::WorkId> unknown_removals)
    : places_(std::move(places)),
      keep_(keep),
      now_(now),
      unknown_removals_(std::move(unknown_removals)) {}

Result<bool> Tidy::step(Connection& connection) {
  HOSTLER_TRY(resolve_unknown_removals(connection));
  switch (phase_) {
    case Phase::kLedger:
      if (HOSTLER_TRY(step_ledger(connection))) return true;
      unused_blobs_ = HOSTLER_TRY(places_.blobs->older_than(earlier(now_, keep_.blob_age)));
      phase_ = unused_blobs_.empty() ? Phase::kDone : Phase::kBlobs;
      break;
    case Phase::kBlobs:
      if (HOSTLER_TRY(step_blobs(connection))) return true;
      phase_ = Phase::kDone;
      break;
    case Phase::kDone:
      break;
  }
  return phase_ != Phase::kDone;
}

// ---- the ledger and its subjects ----------------------------------------------------------------

Result<Wall> Tidy::cutoff(Connection& connection) {
  auto files = places_.outputs->bytes();
  for (const auto& name : HOSTLER_TRY(names_in(places_.segments))) {
    std::error_code code;
    const auto size = std::filesystem::file_size(places_.segments / name, code);
    if (!code) files += size;
  }
  auto rows = HOSTLER_TRY(connection.used_bytes());
  if (files + rows > keep_.bytes) rows = std::min(rows, HOSTLER_TRY(rows_left(connection, rows)));
  const bool too_much = files + rows > keep_.bytes;
  return earlier(now_, too_much ? std::min(keep_.age, kNeverYounger) : keep_.age);
}

/// The size of the rows, if each removed record freed its share. An engine reports removed rows
/// late, and a run that waited for the report would remove too much.
Result<std::uint64_t> Tidy::rows_left(Connection& connection, std::uint64_t rows) {
  if (!before_) {
    // Not COUNT(*), which reads all rows; the revisions have few gaps.
    auto count = HOSTLER_TRY(connection.prepare(
        "SELECT COALESCE((SELECT MAX(rev) FROM ledger) - (SELECT MIN(rev) FROM ledger) + 1, 0)"));
    HOSTLER_TRY(count.next());
    before_ = {rows, static_cast<std::uint64_t>(count.i64(0)), result_.records};
  }
  const auto share = before_->bytes / std::max<std::uint64_t>(before_->records, 1);
  const auto gone = std::min(result_.records - before_->gone, before_->records);
  return before_->bytes - gone * share;
}

Result<std::vector<PastRecord>> Tidy::next_records(Connection& connection) const {
  auto select = HOSTLER_TRY(connection.prepare(
      "SELECT rev, time_us, subject FROM ledger WHERE rev > $1 ORDER BY rev LIMIT $2"));
  HOSTLER_TRY(select.start(after_, kRecordsPerStep));
  std::vector<PastRecord> records;
  while (HOSTLER_TRY(select.next()))
    records.push_back(
        {static_cast<model::Revision>(select.i64(0)), {select.i64(1)}, select.text(2)});
  return records;
}

Result<bool> Tidy::step_ledger(Connection& connection) {
  const auto until = HOSTLER_TRY(cutoff(connection));
  auto records = HOSTLER_TRY(next_records(connection));
  const auto young = std::find_if(records.begin(), records.end(),
                                  [&](const PastRecord& record) { return record.time >= until; });
  const bool more = young == records.end() && !records.empty();
  records.erase(young, records.end());
  if (!records.empty()) {
    HOSTLER_TRY(remove_records(connection, records, until));
    after_ = records.back().rev;
  }
  HOSTLER_TRY(remove_segments(connection));
  if (!more) HOSTLER_TRY(remove_prices(connection, until));
  return more;
}

Result<void> Tidy::remove_records(Connection& connection, const std::vector<PastRecord>& records,
                                  Wall until) {
  Tidied removed;
  auto done = in_one_transaction(connection, [&] {
    return remove_past(connection, *places_.outputs, records, until, removed);
  });
  if (done)
    result_ += removed;
  else if (connection.failure() == Failure::kUnknown)
    unknown_removals_ = std::move(removed.work);
  return done;
}

/// Looks for the rows. That also works in a later run, after other commits.
Result<void> Tidy::resolve_unknown_removals(Connection& connection) {
  if (unknown_removals_.empty()) return {};
  std::vector<Value> ids;
  for (const auto id : unknown_removals_) ids.emplace_back(static_cast<std::int64_t>(id.value));
  auto find =
      HOSTLER_TRY(connection.prepare("SELECT id FROM work WHERE id IN (" + in_list() + ")"));
  std::set<std::uint64_t> there;
  HOSTLER_TRY(for_each_in(find, ids, [&](const Statement& row) -> Result<void> {
    there.insert(static_cast<std::uint64_t>(row.i64(0)));
    return {};
  }));
  for (const auto id : std::exchange(unknown_removals_, {}))
    if (!there.contains(id.value)) result_.work.push_back(id);
  return {};
}

/// Removes prices that a newer price had replaced by `until`.
Result<void> Tidy::remove_prices(Connection& connection, Wall until) {
  auto remove = HOSTLER_TRY(connection.prepare(
      "DELETE FROM prices WHERE start_us < $1 AND EXISTS (SELECT 1 FROM prices n WHERE "
      "n.set_name = prices.set_name AND n.type = prices.type AND n.market = prices.market "
      "AND n.zone = prices.zone AND n.start_us > prices.start_us AND n.start_us <= $2)"));
  return remove.run(until.us, until.us);
}

/// Removes all segments that no row points into. Those that stay count for the size limit.
Result<void> Tidy::remove_segments(Connection& connection) {
  std::vector<Value> old;
  for (const auto& name : HOSTLER_TRY(names_in(places_.segments)))
    if (const auto segment = parse_u64(name); segment && *segment < places_.current_segment())
      old.emplace_back(static_cast<std::int64_t>(*segment));
  auto find = HOSTLER_TRY(
      connection.prepare("WITH old (segment) AS (VALUES " + number_rows() +
                         ") SELECT segment FROM old WHERE NOT EXISTS (SELECT 1 FROM attempts a "
                         "WHERE a.segment = old.segment AND a.segment > 0)"));
  return for_each_in(find, old, [&](const Statement& row) -> Result<void> {
    const auto path = segment_path(places_.segments, static_cast<std::uint64_t>(row.i64(0)));
    std::error_code ignored;  // the next run tries again
    if (std::filesystem::remove(path, ignored)) ++result_.segments;
    return {};
  });
}

// ---- blobs --------------------------------------------------------------------------------------

Result<bool> Tidy::step_blobs(Connection& connection) {
  // Work that comes meanwhile has higher ids, and its blobs were asked for a moment ago.
  static const std::string kSelect =
      "SELECT s.id, CASE WHEN w.state NOT BETWEEN " +
      std::to_string(static_cast<int>(model::WorkState::kSucceeded)) + " AND " +
      std::to_string(static_cast<int>(model::WorkState::kCancelled)) +
      " THEN s.body ELSE '' END FROM work_specs s JOIN work w ON w.id = s.id "
      "WHERE s.id > $1 ORDER BY s.id LIMIT $2";
  auto select = HOSTLER_TRY(connection.prepare(kSelect));
  HOSTLER_TRY(select.start(work_after_, kWorkPerStep));
  std::size_t seen = 0;
  for (; HOSTLER_TRY(select.next()); ++seen) {
    work_after_ = static_cast<std::uint64_t>(select.i64(0));
    keep_needed(select.view(1), unused_blobs_);
  }
  if (seen == kWorkPerStep) return true;
  for (const auto& sha256 : unused_blobs_) {
    HOSTLER_TRY(places_.blobs->remove(sha256, earlier(now_, keep_.blob_age)));
    ++result_.blobs;
  }
  return false;
}

}  // namespace hostler::store
