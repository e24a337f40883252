#include "core/store/tidy.h"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "core/base/text.h"
#include "core/model/instance.h"
#include "core/model/job.h"
#include "core/store/folders.h"
#include "core/store/segments.h"

namespace hostler::store {
namespace {

constexpr std::size_t kRecordsPerStep = 500, kJobsPerStep = 2000;
constexpr Duration kNeverYounger = 1h;  ///< Someone may be waiting for the result.

Wall earlier(Wall time, Duration by) {
  return {time.us - std::chrono::duration_cast<std::chrono::microseconds>(by).count()};
}

/// The one integer that `sql` gives, or `otherwise`.
template <class... Args>
Result<std::int64_t> number(Connection& connection, std::string_view sql, std::int64_t otherwise,
                            const Args&... args) {
  auto select = HOSTLER_TRY(connection.prepare(sql));
  HOSTLER_TRY(select.start(args...));
  return HOSTLER_TRY(select.next()) ? select.i64(0) : otherwise;
}

template <class... Args>
Result<void> run(Connection& connection, std::string_view sql, const Args&... args) {
  auto statement = HOSTLER_TRY(connection.prepare(sql));
  return statement.run(args...);
}

/// Numbers are never given twice: the highest are noted before their rows may go.
Result<void> note_highest(Connection& connection) {
  struct Mark {
    const char *key, *sql;
  };
  for (const auto& [key, sql] :
       {Mark{"last_revision", "SELECT rev FROM ledger ORDER BY rev DESC LIMIT 1"},
        Mark{"last_job", "SELECT id FROM jobs ORDER BY id DESC LIMIT 1"},
        Mark{"last_arrival", "SELECT arrival FROM job_specs ORDER BY id DESC LIMIT 1"},
        Mark{"last_instance", "SELECT id FROM instances ORDER BY id DESC LIMIT 1"}}) {
    const auto highest = HOSTLER_TRY(number(connection, sql, 0));
    if (highest == 0) continue;
    HOSTLER_TRY(run(connection,
                    "INSERT INTO meta (key, value) VALUES ($1, $2) "
                    "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                    key, std::to_string(highest)));
  }
  return {};
}

/// Takes every quoted text of 64 hexadecimal digits in `body` off `blobs`: more than the inputs'
/// hashes perhaps, never less.
void keep_needed(std::string_view body, std::set<std::string>& blobs) {
  for (std::size_t at = 0; (at = body.find('"', at)) != std::string_view::npos; ++at)
    if (at + 65 < body.size() && body[at + 65] == '"')
      blobs.erase(std::string(body.substr(at + 1, 64)));
}

}  // namespace

Tidy::Tidy(Places places, Keep keep, Wall now)
    : places_(std::move(places)), keep_(keep), now_(now) {}

Result<bool> Tidy::step(Connection& connection) {
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

// ---- the ledger and what it speaks of -----------------------------------------------------------

Result<Wall> Tidy::cutoff(Connection& connection) {
  auto bytes = HOSTLER_TRY(connection.used_bytes()) + places_.outputs->bytes();
  for (const auto& name : HOSTLER_TRY(names_in(places_.segments))) {
    std::error_code code;
    const auto size = std::filesystem::file_size(places_.segments / name, code);
    if (!code) bytes += size;
  }
  const bool too_much = bytes > keep_.bytes;
  return earlier(now_, too_much ? std::min(keep_.age, kNeverYounger) : keep_.age);
}

Result<std::vector<Tidy::Record>> Tidy::next_records(Connection& connection) const {
  auto select = HOSTLER_TRY(connection.prepare(
      "SELECT rev, time_us, subject FROM ledger WHERE rev > $1 ORDER BY rev LIMIT $2"));
  HOSTLER_TRY(select.start(after_, kRecordsPerStep));
  std::vector<Record> records;
  while (HOSTLER_TRY(select.next()))
    records.push_back(
        {static_cast<model::Revision>(select.i64(0)), {select.i64(1)}, select.text(2)});
  return records;
}

Result<bool> Tidy::step_ledger(Connection& connection) {
  const auto until = HOSTLER_TRY(cutoff(connection));
  auto records = HOSTLER_TRY(next_records(connection));
  const auto young = std::find_if(records.begin(), records.end(),
                                  [&](const Record& record) { return record.time >= until; });
  const bool more = young == records.end() && !records.empty();
  records.erase(young, records.end());
  if (records.empty()) {
    HOSTLER_TRY(remove_prices(connection, until));
    return false;
  }
  HOSTLER_TRY(
      in_one_transaction(connection, [&] { return remove_records(connection, records, until); }));
  after_ = records.back().rev;
  HOSTLER_TRY(remove_segments(connection));
  if (!more) HOSTLER_TRY(remove_prices(connection, until));
  return more;
}

/// Those that another had followed by then; what was in force stays known.
Result<void> Tidy::remove_prices(Connection& connection, Wall until) {
  return run(connection,
             "DELETE FROM prices WHERE start_us < $1 AND EXISTS (SELECT 1 FROM prices n WHERE "
             "n.set_name = prices.set_name AND n.type = prices.type AND n.market = prices.market "
             "AND n.zone = prices.zone AND n.start_us > prices.start_us AND n.start_us <= $2)",
             until.us, until.us);
}

Result<void> Tidy::remove_records(Connection& connection, const std::vector<Record>& records,
                                  Wall until) {
  HOSTLER_TRY(note_highest(connection));
  std::set<std::string_view> decided;
  for (const auto& record : records) {
    const bool whole = model::JobId::parse(record.subject).has_value() ||
                       model::InstanceId::parse(record.subject).has_value();
    if (whole && !decided.insert(record.subject).second) continue;
    if (!HOSTLER_TRY(may_go(connection, record, until))) continue;
    if (whole) {
      HOSTLER_TRY(remove_subject(connection, record));
    } else {
      HOSTLER_TRY(run(connection, "DELETE FROM ledger WHERE rev = $1", record.rev));
      ++result_.records;
    }
  }
  return {};
}

/// A job or an instance goes whole or not at all.
Result<bool> Tidy::may_go(Connection& connection, const Record& record, Wall until) const {
  const auto job = model::JobId::parse(record.subject);
  const auto instance = model::InstanceId::parse(record.subject);
  if (!job && !instance) return true;
  constexpr auto kEnded = static_cast<std::int64_t>(model::JobState::kCancelled);
  constexpr auto kGone = static_cast<std::int64_t>(model::InstanceState::kGone);
  const auto state =
      job ? HOSTLER_TRY(
                number(connection, "SELECT state FROM jobs WHERE id = $1", kEnded, job->value))
          : HOSTLER_TRY(number(connection, "SELECT state FROM instances WHERE id = $1", kGone,
                               instance->value));
  if (job ? !model::is_terminal(static_cast<model::JobState>(state)) : state != kGone) return false;
  const auto last = HOSTLER_TRY(
      number(connection, "SELECT time_us FROM ledger WHERE subject = $1 ORDER BY rev DESC LIMIT 1",
             0, record.subject));
  return last < until.us;
}

Result<void> Tidy::remove_subject(Connection& connection, const Record& record) {
  result_.records += static_cast<std::uint64_t>(HOSTLER_TRY(
      number(connection, "SELECT COUNT(*) FROM ledger WHERE subject = $1", 0, record.subject)));
  HOSTLER_TRY(run(connection, "DELETE FROM ledger WHERE subject = $1", record.subject));
  if (const auto job = model::JobId::parse(record.subject)) return remove_job(connection, *job);
  const auto instance = model::InstanceId::parse(record.subject)->value;
  HOSTLER_TRY(run(connection, "DELETE FROM creates WHERE instance = $1", instance));
  HOSTLER_TRY(run(connection, "DELETE FROM instances WHERE id = $1", instance));
  ++result_.instances;
  return {};
}

Result<void> Tidy::remove_job(Connection& connection, model::JobId job) {
  // Files first: a crash in between leaves rows, which the next run finds, and no files that
  // nobody knows.
  auto attempts = HOSTLER_TRY(connection.prepare(
      "SELECT number FROM attempts WHERE job = $1 AND (output_is_inline = 0 OR has_end = 0 OR "
      "has_output_files = 1)"));
  HOSTLER_TRY(attempts.start(job.value));
  while (HOSTLER_TRY(attempts.next()))
    HOSTLER_TRY(places_.outputs->remove({job, static_cast<std::uint32_t>(attempts.i64(0))}));
  HOSTLER_TRY(run(connection, "DELETE FROM attempts WHERE job = $1", job.value));
  HOSTLER_TRY(run(connection, "DELETE FROM job_specs WHERE id = $1", job.value));
  HOSTLER_TRY(run(connection, "DELETE FROM jobs WHERE id = $1", job.value));
  result_.jobs.push_back(job);
  return {};
}

Result<void> Tidy::remove_segments(Connection& connection) {
  for (const auto& name : HOSTLER_TRY(names_in(places_.segments))) {
    const auto segment = parse_u64(name);
    if (!segment || *segment >= places_.current_segment()) continue;
    if (HOSTLER_TRY(number(connection,
                           "SELECT 1 FROM attempts WHERE segment = $1 AND segment > 0 LIMIT 1", 0,
                           *segment)) != 0)
      continue;
    std::error_code ignored;  // the next run tries again
    if (std::filesystem::remove(places_.segments / name, ignored)) ++result_.segments;
  }
  return {};
}

// ---- blobs --------------------------------------------------------------------------------------

Result<bool> Tidy::step_blobs(Connection& connection) {
  // Jobs that come meanwhile have higher ids, and their blobs were asked for a moment ago.
  auto select = HOSTLER_TRY(
      connection.prepare("SELECT s.id, j.state, s.body FROM job_specs s JOIN jobs j ON j.id = s.id "
                         "WHERE s.id > $1 ORDER BY s.id LIMIT $2"));
  HOSTLER_TRY(select.start(jobs_after_, kJobsPerStep));
  std::size_t seen = 0;
  for (; HOSTLER_TRY(select.next()); ++seen) {
    jobs_after_ = static_cast<std::uint64_t>(select.i64(0));
    if (!model::is_terminal(static_cast<model::JobState>(select.i64(1))))
      keep_needed(select.view(2), unused_blobs_);
  }
  if (seen == kJobsPerStep) return true;
  for (const auto& sha256 : unused_blobs_) {
    HOSTLER_TRY(places_.blobs->remove(sha256, earlier(now_, keep_.blob_age)));
    ++result_.blobs;
  }
  return false;
}

}  // namespace hostler::store
