#include "core/store/rows.h"

#include "core/base/text.h"

namespace hostler::store {
namespace {

template <class T>
std::int64_t number_or_none(const std::optional<T>& value) {
  return value ? static_cast<std::int64_t>(*value) : -1;
}

// Names are [a-z0-9_-]: a comma parts them.
std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

std::vector<std::string> parted(const std::string& names) {
  if (names.empty()) return {};
  const auto parts = split(names, ',');
  return {parts.begin(), parts.end()};
}

}  // namespace

std::string insert_sql(std::string_view table, std::string_view columns, std::string_view key) {
  std::string values;
  std::string updates;
  int index = 0;
  for (std::string_view column : split(columns, ',')) {
    column.remove_prefix(column.find_first_not_of(' '));
    values += (values.empty() ? "$" : ", $") + std::to_string(++index);
    bool in_key = false;
    for (const std::string_view part : split(key, ',')) in_key = in_key || part == column;
    if (in_key) continue;
    updates +=
        (updates.empty() ? "" : ", ") + std::string(column) + " = excluded." + std::string(column);
  }
  auto sql = "INSERT INTO " + std::string(table) + " (" + std::string(columns) + ") VALUES (" +
             values + ")";
  if (!key.empty()) sql += " ON CONFLICT (" + std::string(key) + ") DO UPDATE SET " + updates;
  return sql;
}

std::string prefixed(std::string_view columns, std::string_view prefix) {
  std::string out;
  for (std::string_view column : split(columns, ',')) {
    column.remove_prefix(column.find_first_not_of(' '));
    out += (out.empty() ? "" : ", ") + std::string(prefix) + "." + std::string(column);
  }
  return out;
}

// ---- work ---------------------------------------------------------------------------------------

const std::string_view kWorkColumns =
    "id, kind, state, reason, reason_text, attempt, starts, instance, cancel_requested, "
    "exit_code, signal, limits_enforced, cpu_us, ram_peak, stdout_bytes, stderr_bytes, "
    "started_us, ended_us";

Result<void> write(Statement& put, const model::WorkRecord& work) {
  return put.run(work.id.value, work.id.kind, work.state, work.reason, work.reason_text,
                 work.attempt, work.starts, work.instance.value, work.cancel_requested,
                 work.exit_code, work.signal, work.limits_enforced, work.cpu_us, work.ram_peak,
                 work.stdout_bytes, work.stderr_bytes, work.started.us, work.ended.us);
}

void read(Row& row, model::WorkRecord& work) {
  row >> work.id >> work.state >> work.reason >> work.reason_text >> work.attempt >> work.starts >>
      work.instance >> work.cancel_requested >> work.exit_code >> work.signal >>
      work.limits_enforced >> work.cpu_us >> work.ram_peak >> work.stdout_bytes >>
      work.stderr_bytes >> work.started >> work.ended;
}

const std::string_view kWorkSpecColumns =
    "id, arrival, vcpus, gpus, ram, scratch, types, market, zone, priority, restartable, "
    "attempts_max, principal, name, client_key, client_digest, submitted_us";

Result<void> write_spec(Statement& put, const model::WorkItem& item) {
  const auto& [needs, constraints, priority, restartable, attempts_max] = item.shape;
  return put.run(item.record.id.value, item.arrival, needs.vcpus, needs.gpus, needs.ram,
                 needs.scratch, joined(constraints.types), number_or_none(constraints.market),
                 constraints.zone, priority, restartable, attempts_max, item.principal, item.name,
                 item.client_key, item.client_digest, item.submitted.us,
                 item.body ? std::string_view(*item.body) : std::string_view());
}

void read_spec(Row& row, model::WorkItem& item) {
  auto& [needs, constraints, priority, restartable, attempts_max] = item.shape;
  std::string types;
  row >> item.record.id.value >> item.arrival >> needs.vcpus >> needs.gpus >> needs.ram >>
      needs.scratch >> types >> constraints.market >> constraints.zone >> priority >> restartable >>
      attempts_max >> item.principal >> item.name >> item.client_key >> item.client_digest >>
      item.submitted;
  constraints.types = parted(types);
}

// ---- attempts -----------------------------------------------------------------------------------

const std::string_view kAttemptColumns =
    "work, kind, number, instance, boot_id, sequence, state, has_end, reason, exit_code, signal, "
    "text, "
    "stdout_bytes, stderr_bytes, output_is_inline, has_output_files, cpu_us, ram_peak, "
    "limits_enforced, started_us, ended_us, segment, segment_offset, stdout_inline, stderr_inline";

Result<void> write(Statement& put, const model::AttemptChanged& attempt, const InlinePlace& place) {
  static const model::AttemptEnd kNoEnd;
  const auto& end = attempt.end ? *attempt.end : kNoEnd;
  return put.run(attempt.attempt.work.value, attempt.attempt.work.kind, attempt.attempt.number,
                 attempt.instance.value, attempt.boot_id, attempt.sequence, attempt.state,
                 attempt.end.has_value(), end.reason, end.exit_code, end.signal, end.text,
                 end.stdout_bytes, end.stderr_bytes, end.output_is_inline, end.has_output_files,
                 end.cpu_us, end.ram_peak, end.limits_enforced, end.started.us, end.ended.us,
                 place.segment, place.offset, place.stdout_length, place.stderr_length);
}

void read(Row& row, model::AttemptChanged& attempt, InlinePlace& place) {
  bool has_end = false;
  model::AttemptEnd end;
  row >> attempt.attempt.work >> attempt.attempt.number >> attempt.instance >> attempt.boot_id >>
      attempt.sequence >> attempt.state >> has_end >> end.reason >> end.exit_code >> end.signal >>
      end.text >> end.stdout_bytes >> end.stderr_bytes >> end.output_is_inline >>
      end.has_output_files >> end.cpu_us >> end.ram_peak >> end.limits_enforced >> end.started >>
      end.ended >> place.segment >> place.offset >> place.stdout_length >> place.stderr_length;
  if (has_end) attempt.end = std::move(end);
}

// ---- instances ----------------------------------------------------------------------------------

const std::string_view kInstanceColumns =
    "id, set_name, pool, type, zone, market, price_per_hour, state, idle_behavior, health, "
    "provider_id, request_id, idempotency_key, epoch, address, remote_user, ssh_port, "
    "delivered_private_key, delivered_public_key, challenge_secret, public_key, next_public_key, "
    "next_secret, verified_by, rotation, boot_id, last_sequence, destroy_tries, "
    "absent_sightings, reason_code, reason, last_text, created_us, verified_us, ready_us, "
    "first_job_us, state_since_us, gone_us, deadline_us, off_us, vcpus, "
    "gpus, ram, scratch";

Result<void> write(Statement& put, const model::InstanceRecord& i) {
  const auto& identity = i.identity;
  return put.run(
      i.id.value, i.set, i.pool, i.type, i.zone, i.market, i.price_per_hour.value, i.state,
      i.idle_behavior, i.health, i.provider_id, i.request_id, i.idempotency_key, i.epoch, i.address,
      i.remote_user, i.ssh_port, identity.delivered_private_key, identity.delivered_public_key,
      identity.challenge_secret, identity.public_key, identity.next_public_key,
      identity.next_secret, number_or_none(identity.verified_by), identity.rotation, i.boot_id,
      i.last_sequence, i.destroy_tries, i.absent_sightings, i.reason_code, i.reason, i.last_text,
      i.created.us, i.verified.us, i.ready.us, i.first_job.us, i.state_since.us, i.gone.us,
      i.deadline.us, i.off_us, i.total.vcpus, i.total.gpus, i.total.ram, i.total.scratch);
}

void read(Row& row, model::InstanceRecord& i) {
  auto& identity = i.identity;
  row >> i.id >> i.set >> i.pool >> i.type >> i.zone >> i.market >> i.price_per_hour >> i.state >>
      i.idle_behavior >> i.health >> i.provider_id >> i.request_id >> i.idempotency_key >>
      i.epoch >> i.address >> i.remote_user >> i.ssh_port >> identity.delivered_private_key >>
      identity.delivered_public_key >> identity.challenge_secret >> identity.public_key >>
      identity.next_public_key >> identity.next_secret >> identity.verified_by >>
      identity.rotation >> i.boot_id >> i.last_sequence >> i.destroy_tries >> i.absent_sightings >>
      i.reason_code >> i.reason >> i.last_text >> i.created >> i.verified >> i.ready >>
      i.first_job >> i.state_since >> i.gone >> i.deadline >> i.off_us >> i.total.vcpus >>
      i.total.gpus >> i.total.ram >> i.total.scratch;
}

// ---- gates, prices and the ledger ---------------------------------------------------------------

const std::string_view kGateColumns =
    "key, set_name, op, cls, scope, type, quota_group, zone, subnet, region, market, until_us, "
    "failures, message";

Result<void> write(Statement& put, const model::GateRecord& gate) {
  return put.run(gate.key, gate.set, gate.op, gate.cls, gate.scope, gate.type, gate.group,
                 gate.zone, gate.subnet, gate.region, number_or_none(gate.market), gate.until.us,
                 gate.failures, gate.message);
}

void read(Row& row, model::GateRecord& gate) {
  row >> gate.key >> gate.set >> gate.op >> gate.cls >> gate.scope >> gate.type >> gate.group >>
      gate.zone >> gate.subnet >> gate.region >> gate.market >> gate.until >> gate.failures >>
      gate.message;
}

const std::string_view kPriceColumns = "set_name, type, zone, market, start_us, price_per_hour";

Result<void> write(Statement& put, const model::PriceSeen& price) {
  return put.run(price.set, price.type, price.zone, price.market, price.point.start.us,
                 price.point.per_hour.value);
}

void read(Row& row, model::PriceSeen& price) {
  row >> price.set >> price.type >> price.zone >> price.market >> price.point.start >>
      price.point.per_hour;
}

const std::string_view kLedgerColumns =
    "rev, time_us, epoch, actor, subject, event, reason_code, reason, cause_rev, data";

Result<void> write(Statement& put, const model::LedgerRecord& record) {
  return put.run(record.rev, record.time.us, record.epoch, record.actor, record.subject,
                 record.event, record.reason_code, record.reason, record.cause_rev,
                 record.data_json);
}

void read(Row& row, model::LedgerRecord& record) {
  row >> record.rev >> record.time >> record.epoch >> record.actor >> record.subject >>
      record.event >> record.reason_code >> record.reason >> record.cause_rev >> record.data_json;
}

}  // namespace hostler::store
