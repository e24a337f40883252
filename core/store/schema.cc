#include "core/store/schema.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/store/long_transaction.h"
#include "core/store/meta.h"

namespace hostler::store {
namespace {

// One entry per version; a released entry is never edited. Times are microseconds since 1970, 0 for
// none; enums are their numbers in core/model; ids are the number behind "j-" or "h-", so that a
// cursor follows their order; the kind of a piece of work is a column beside its number. Two words
// differ by engine: {id} is an int64 that can be a table's key (INTEGER in SQLite, BIGINT in
// PostgreSQL), {by_key} says that a table is stored in the order of its key (WITHOUT ROWID in
// SQLite, nothing in PostgreSQL). TEXT is compared by bytes in both.
constexpr std::array<std::string_view, 18> kMigrations{R"sql(
CREATE TABLE jobs (            -- what of a job changes
  id {id} PRIMARY KEY, state BIGINT NOT NULL, reason BIGINT NOT NULL, reason_text TEXT NOT NULL,
  attempt BIGINT NOT NULL, starts BIGINT NOT NULL, instance BIGINT NOT NULL,
  cancel_requested BIGINT NOT NULL, exit_code BIGINT NOT NULL, signal BIGINT NOT NULL,
  limits_enforced BIGINT NOT NULL, cpu_us BIGINT NOT NULL, ram_peak BIGINT NOT NULL,
  stdout_bytes BIGINT NOT NULL, stderr_bytes BIGINT NOT NULL,
  started_us BIGINT NOT NULL, ended_us BIGINT NOT NULL);
CREATE INDEX jobs_by_state ON jobs (state, id);

CREATE TABLE job_specs (       -- what does not; body last, so that the rest is read without it
  id {id} PRIMARY KEY, arrival BIGINT NOT NULL, vcpus BIGINT NOT NULL, gpus BIGINT NOT NULL,
  ram BIGINT NOT NULL, scratch BIGINT NOT NULL, types TEXT NOT NULL, market BIGINT NOT NULL,
  zone TEXT NOT NULL, priority BIGINT NOT NULL, restartable BIGINT NOT NULL,
  attempts_max BIGINT NOT NULL, principal TEXT NOT NULL, name TEXT NOT NULL,
  client_key TEXT NOT NULL, client_digest TEXT NOT NULL, submitted_us BIGINT NOT NULL,
  body TEXT NOT NULL);
CREATE INDEX job_specs_by_principal ON job_specs (principal, id);
CREATE INDEX job_specs_by_name ON job_specs (name, id) WHERE name <> '';
CREATE INDEX job_specs_by_client_key ON job_specs (principal, client_key) WHERE client_key <> '';

CREATE TABLE attempts (        -- segment 0: no inline output
  job BIGINT NOT NULL, number BIGINT NOT NULL, instance BIGINT NOT NULL, boot_id TEXT NOT NULL,
  sequence BIGINT NOT NULL, state BIGINT NOT NULL, has_end BIGINT NOT NULL, reason BIGINT NOT NULL,
  exit_code BIGINT NOT NULL, signal BIGINT NOT NULL, text TEXT NOT NULL,
  stdout_bytes BIGINT NOT NULL, stderr_bytes BIGINT NOT NULL, output_is_inline BIGINT NOT NULL,
  has_output_files BIGINT NOT NULL, cpu_us BIGINT NOT NULL, ram_peak BIGINT NOT NULL,
  limits_enforced BIGINT NOT NULL, started_us BIGINT NOT NULL, ended_us BIGINT NOT NULL,
  segment BIGINT NOT NULL, segment_offset BIGINT NOT NULL, stdout_inline BIGINT NOT NULL,
  stderr_inline BIGINT NOT NULL,
  PRIMARY KEY (job, number)) {by_key};
CREATE INDEX attempts_open ON attempts (job, number) WHERE state < 2;
CREATE INDEX attempts_by_segment ON attempts (segment) WHERE segment > 0;

CREATE TABLE instances (       -- holds secrets; see also creates
  id {id} PRIMARY KEY, set_name TEXT NOT NULL, pool TEXT NOT NULL, type TEXT NOT NULL,
  zone TEXT NOT NULL, market BIGINT NOT NULL, price_per_hour BIGINT NOT NULL,
  state BIGINT NOT NULL, idle_behavior BIGINT NOT NULL, health BIGINT NOT NULL,
  provider_id TEXT NOT NULL, request_id TEXT NOT NULL, idempotency_key TEXT NOT NULL,
  epoch BIGINT NOT NULL, address TEXT NOT NULL, remote_user TEXT NOT NULL,
  ssh_port BIGINT NOT NULL, delivered_private_key TEXT NOT NULL,
  delivered_public_key TEXT NOT NULL, challenge_secret TEXT NOT NULL, public_key TEXT NOT NULL,
  next_public_key TEXT NOT NULL, next_secret TEXT NOT NULL, verified_by BIGINT NOT NULL,
  rotation BIGINT NOT NULL, boot_id TEXT NOT NULL, last_sequence BIGINT NOT NULL,
  destroy_tries BIGINT NOT NULL, absent_sightings BIGINT NOT NULL, reason_code TEXT NOT NULL,
  reason TEXT NOT NULL, last_text TEXT NOT NULL, created_us BIGINT NOT NULL,
  verified_us BIGINT NOT NULL, ready_us BIGINT NOT NULL, first_job_us BIGINT NOT NULL,
  state_since_us BIGINT NOT NULL, gone_us BIGINT NOT NULL, deadline_us BIGINT NOT NULL);
CREATE INDEX instances_by_state ON instances (state, id);

CREATE TABLE creates (         -- intents, whole, until the instance is verified; secrets
  instance {id} PRIMARY KEY, request TEXT NOT NULL);

CREATE TABLE gates (
  key TEXT PRIMARY KEY, set_name TEXT NOT NULL, op BIGINT NOT NULL, cls BIGINT NOT NULL,
  scope BIGINT NOT NULL, type TEXT NOT NULL, quota_group TEXT NOT NULL, zone TEXT NOT NULL,
  subnet TEXT NOT NULL, region TEXT NOT NULL, market BIGINT NOT NULL, until_us BIGINT NOT NULL,
  failures BIGINT NOT NULL, message TEXT NOT NULL) {by_key};

CREATE TABLE ledger (
  rev {id} PRIMARY KEY, time_us BIGINT NOT NULL, epoch BIGINT NOT NULL, actor TEXT NOT NULL,
  subject TEXT NOT NULL, event TEXT NOT NULL, reason_code TEXT NOT NULL, reason TEXT NOT NULL,
  cause_rev BIGINT NOT NULL, data TEXT NOT NULL);
CREATE INDEX ledger_by_subject ON ledger (subject, rev);
)sql",
                                                       R"sql(
CREATE TABLE prices (          -- from start_us on, until the next of that set, type, zone, market
  set_name TEXT NOT NULL, type TEXT NOT NULL, zone TEXT NOT NULL, market BIGINT NOT NULL,
  start_us BIGINT NOT NULL, price_per_hour BIGINT NOT NULL,
  PRIMARY KEY (set_name, type, market, zone, start_us)) {by_key};
ALTER TABLE instances ADD COLUMN off_us BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN vcpus BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN gpus BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN ram BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN scratch BIGINT NOT NULL DEFAULT 0;
)sql",
                                                       // Work of any kind; the names of the indexes
                                                       // on work_specs stay, as SQLite cannot
                                                       // rename an index.
                                                       R"sql(
ALTER TABLE jobs RENAME TO work;
ALTER TABLE job_specs RENAME TO work_specs;
ALTER TABLE work ADD COLUMN kind BIGINT NOT NULL DEFAULT 0;
ALTER TABLE attempts RENAME COLUMN job TO work;
ALTER TABLE attempts ADD COLUMN kind BIGINT NOT NULL DEFAULT 0;
DROP INDEX jobs_by_state;
CREATE INDEX work_by_state ON work (state, kind, id);
DROP INDEX attempts_open;
CREATE INDEX attempts_open ON attempts (work, number) WHERE state <> 2;
UPDATE meta SET key = 'last_work' WHERE key = 'last_job';
)sql",
                                                       R"sql(
CREATE TABLE sets (            -- the account that a set's instances are in; empty: not known
  name TEXT PRIMARY KEY, account TEXT NOT NULL, region TEXT NOT NULL) {by_key};
UPDATE instances SET state = 9 WHERE state = 8;  -- gone: before it there is vanished now
ALTER TABLE work ADD COLUMN refused_by TEXT NOT NULL DEFAULT '';
ALTER TABLE work_specs ADD COLUMN start_failures_max BIGINT NOT NULL DEFAULT 10;
ALTER TABLE gates ADD COLUMN pool TEXT NOT NULL DEFAULT '';
ALTER TABLE gates ADD COLUMN image TEXT NOT NULL DEFAULT '';
)sql",
                                                       R"sql(
ALTER TABLE work ADD COLUMN placed_us BIGINT NOT NULL DEFAULT 0;
UPDATE work SET placed_us = started_us WHERE state IN (1, 2);  -- starting, running
)sql",
                                                       R"sql(
CREATE TABLE uses (            -- what each principal has used lately, decayed until as_of_us
  principal TEXT PRIMARY KEY, micros BIGINT NOT NULL, as_of_us BIGINT NOT NULL) {by_key};
)sql",
                                                       R"sql(
ALTER TABLE work ADD COLUMN restored BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN restored BIGINT NOT NULL DEFAULT 0;
)sql",
                                                       // Gates of calls in which a driver died.
                                                       R"sql(
ALTER TABLE gates ADD COLUMN instance BIGINT NOT NULL DEFAULT 0;
ALTER TABLE gates ADD COLUMN under_way BIGINT NOT NULL DEFAULT 0;
ALTER TABLE gates ADD COLUMN has_crash BIGINT NOT NULL DEFAULT 0;
ALTER TABLE gates ADD COLUMN driver TEXT NOT NULL DEFAULT '';
ALTER TABLE gates ADD COLUMN driver_version TEXT NOT NULL DEFAULT '';
ALTER TABLE gates ADD COLUMN driver_file TEXT NOT NULL DEFAULT '';
ALTER TABLE gates ADD COLUMN call TEXT NOT NULL DEFAULT '';
ALTER TABLE gates ADD COLUMN ending TEXT NOT NULL DEFAULT '';
ALTER TABLE gates ADD COLUMN output TEXT NOT NULL DEFAULT '';
)sql",
                                                       R"sql(
CREATE TABLE images (          -- the newest image that a query of a set has found
  set_name TEXT NOT NULL, query TEXT NOT NULL, image TEXT NOT NULL, name TEXT NOT NULL,
  owner TEXT NOT NULL, architecture TEXT NOT NULL, created_us BIGINT NOT NULL,
  found_us BIGINT NOT NULL,
  PRIMARY KEY (set_name, query)) {by_key};
)sql",
                                                       R"sql(
CREATE TABLE offered_types (   -- what the clouds offer, one row for each zone
  set_name TEXT NOT NULL, provider_type TEXT NOT NULL, market BIGINT NOT NULL, zone TEXT NOT NULL,
  name TEXT NOT NULL, architecture TEXT NOT NULL, vcpus BIGINT NOT NULL, gpus BIGINT NOT NULL,
  ram BIGINT NOT NULL, scratch BIGINT NOT NULL, has_price BIGINT NOT NULL,
  price_per_hour BIGINT NOT NULL, currency TEXT NOT NULL, available BIGINT NOT NULL,
  PRIMARY KEY (set_name, provider_type, market, zone)) {by_key};
)sql",
                                                       // Notices of interruptions.
                                                       R"sql(
ALTER TABLE work ADD COLUMN interrupted BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN has_notice BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN notice_source BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN notice_action BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN noticed_us BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN interruption_us BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN notice_text TEXT NOT NULL DEFAULT '';
)sql",
                                                       // Jobs may need a part of a vcpu.
                                                       R"sql(
ALTER TABLE work_specs RENAME COLUMN vcpus TO vcpu_thousandths;
UPDATE work_specs SET vcpu_thousandths = vcpu_thousandths * 1000;
ALTER TABLE instances RENAME COLUMN vcpus TO vcpu_thousandths;
UPDATE instances SET vcpu_thousandths = vcpu_thousandths * 1000;
ALTER TABLE offered_types RENAME COLUMN vcpus TO vcpu_thousandths;
UPDATE offered_types SET vcpu_thousandths = vcpu_thousandths * 1000;
CREATE TABLE ram_reports (     -- the least RAM of hosts, while the menu's of their type is menu_ram
  set_name TEXT NOT NULL, type TEXT NOT NULL, menu_ram BIGINT NOT NULL, ram BIGINT NOT NULL,
  PRIMARY KEY (set_name, type)) {by_key};
)sql",
                                                       // Nothing is noted of calls under way any
                                                       // more, nor counted because of such a note.
                                                       R"sql(
DELETE FROM gates WHERE failures < 2 AND
  (under_way <> 0 OR ending = 'may have ended hostlerd, which died');
ALTER TABLE gates DROP COLUMN under_way;
)sql",
                                                       // What a job that needs nothing pays.
                                                       R"sql(
ALTER TABLE instances ADD COLUMN jobs_max BIGINT NOT NULL DEFAULT 0;
)sql",
                                                       // How often hosts were used is not known of
                                                       // those that had work.
                                                       R"sql(
CREATE TABLE leases (          -- what work of other kinds does not have
  id {id} PRIMARY KEY, term_us BIGINT NOT NULL, wait_max_us BIGINT NOT NULL,
  until_us BIGINT NOT NULL, used BIGINT NOT NULL, ssh_keys TEXT NOT NULL,
  notice_command TEXT NOT NULL, login BIGINT NOT NULL, told_us BIGINT NOT NULL);
ALTER TABLE work_specs ADD COLUMN pools TEXT NOT NULL DEFAULT '';
ALTER TABLE work_specs ADD COLUMN exclusive BIGINT NOT NULL DEFAULT 0;
ALTER TABLE work_specs ADD COLUMN gang BIGINT NOT NULL DEFAULT 0;
ALTER TABLE work_specs ADD COLUMN gang_count BIGINT NOT NULL DEFAULT 0;
ALTER TABLE work_specs ADD COLUMN gang_one_zone BIGINT NOT NULL DEFAULT 0;
ALTER TABLE work_specs ADD COLUMN lasts_us BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN uses BIGINT NOT NULL DEFAULT 0;
UPDATE instances SET uses = 4294967295 WHERE first_job_us <> 0;
)sql",
                                                       // Which gpus hosts, types and attempts
                                                       // have, and work asks for.
                                                       R"sql(
CREATE TABLE gpu_reports (     -- the fewest cards of hosts, while the menu has menu_count of them
  set_name TEXT NOT NULL, type TEXT NOT NULL, kind TEXT NOT NULL, memory BIGINT NOT NULL,
  menu_count BIGINT NOT NULL, count BIGINT NOT NULL,
  PRIMARY KEY (set_name, type, kind, memory)) {by_key};
ALTER TABLE work_specs ADD COLUMN gpu_kind TEXT NOT NULL DEFAULT '';
ALTER TABLE work_specs ADD COLUMN gpu_memory BIGINT NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN cards TEXT NOT NULL DEFAULT '';
ALTER TABLE offered_types ADD COLUMN gpu_groups TEXT NOT NULL DEFAULT '';
)sql",
                                                       // What is done before hosts go.
                                                       R"sql(
ALTER TABLE instances ADD COLUMN drain_began_us BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN drain_over BIGINT NOT NULL DEFAULT 0;
)sql",
                                                       // Who pushes what pools need, what it says
                                                       // of their hosts, and since when calls fail.
                                                       R"sql(
CREATE TABLE pushers (
  pool TEXT PRIMARY KEY, principal TEXT NOT NULL, session TEXT NOT NULL,
  superseded TEXT NOT NULL) {by_key};
ALTER TABLE instances ADD COLUMN agent BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN agent_since_us BIGINT NOT NULL DEFAULT 0;
ALTER TABLE gates ADD COLUMN since_us BIGINT NOT NULL DEFAULT 0;
)sql"};

std::string replaced(std::string text, std::string_view word, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
    text.replace(at, word.size(), by);
  return text;
}

std::string sql_for_engine(Engine engine, std::string_view sql) {
  const bool sqlite = engine == Engine::kSqlite;
  auto out = replaced(std::string(sql), "{id}", sqlite ? "INTEGER" : "BIGINT");
  out = replaced(std::move(out), "{by_key}", sqlite ? "WITHOUT ROWID" : "");
  return sqlite ? out : replaced(std::move(out), " TEXT ", " TEXT COLLATE \"C\" ");
}

Result<int> version_in(Connection& connection) {
  const auto value = HOSTLER_TRY(meta_value(connection, "schema_version"));
  if (value.empty()) return 0;
  const auto version = parse_u64(value);
  if (!version || *version > 1'000'000)
    return fail(Errc::kInternal,
                "the schema version is not a number: the database is damaged; restore a backup");
  return static_cast<int>(*version);
}

Result<void> migrate_in_transaction(Connection& connection, int wanted) {
  HOSTLER_TRY(connection.execute(sql_for_engine(
      connection.engine(),
      "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")));
  const int found = HOSTLER_TRY(version_in(connection));
  if (found > schema_version())
    return fail(Errc::kConflict, "the database has schema " + std::to_string(found) +
                                     ", this hostlerd knows up to " +
                                     std::to_string(schema_version()) +
                                     ": start the newer hostlerd that wrote it");
  if (found < wanted) HOSTLER_TRY(lift_limits(connection));
  for (int version = found; version < wanted; ++version)
    HOSTLER_TRY(connection.execute(
        sql_for_engine(connection.engine(), kMigrations[static_cast<std::size_t>(version)])));
  return put_meta(connection, "schema_version", std::to_string(std::max(found, wanted)));
}

}  // namespace

int schema_version() { return static_cast<int>(kMigrations.size()); }

Result<void> migrate(Connection& connection, int version) {
  auto done =
      in_one_transaction(connection, [&] { return migrate_in_transaction(connection, version); });
  connection.set_patience(Patience::kLong);
  return done;
}

}  // namespace hostler::store
