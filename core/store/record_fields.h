#pragma once

#include "core/model/records.h"
#include "core/store/files/segments.h"

/// The fields of each record as the columns of its table: one description, from which the list of
/// columns, the statements, writing and checked reading follow (row_visitors.h). columns_test.cc
/// compares the descriptions with the columns that a migrated database has.
///
/// A visitor has these functions; the first argument is the column:
/// - id: a number from 1 on. work: a number from 1 on, and in a second column the kind.
/// - number: an integer within its type; not negative if its type is unsigned.
/// - any_number: an integer that a host may have chosen; all 64 bits are stored as they are.
/// - amount: an integer that is never negative.
/// - vcpus: an amount in thousandths.
/// - flag: 0 or 1. choice: an enum up to its last value. maybe: likewise, -1 for none.
/// - duration: in microseconds, never negative.
/// - time: microseconds since 1970; 0 for none. host_time: likewise, by the clock of a host, which
///   may say anything.
/// - code: a value of a table (events, reasons) by its code; an unknown code reads as kUnknown.
/// - text: any bytes. names: texts without a comma, separated by commas. cards: likewise, UUIDs of
///   cards, each once. sessions: a JSON array of the names that pushers gave, empty for none.
/// - gpu_wish: two columns; only with a number of gpus above 0. gpu_groups: JSON, empty for none.
/// - optional: a flag, then the fields of the value; without a value those of a default one.
namespace hostler::store {

template <class V>
void fields(V& v, typename V::template Ref<model::WorkRecord> r) {
  v.work("id", "kind", r.id);
  v.choice("state", r.state, model::WorkState::kHeld);
  v.choice("reason", r.reason, model::EndReason::kInterrupted);
  v.text("reason_text", r.reason_text);
  v.number("attempt", r.attempt);
  v.number("starts", r.starts);
  v.number("instance", r.instance.value);
  v.names("refused_by", r.refused_by);
  v.flag("cancel_requested", r.cancel_requested);
  v.flag("interrupted", r.interrupted);
  v.flag("restored", r.restored);
  v.number("exit_code", r.exit_code);
  v.number("signal", r.signal);
  v.flag("limits_enforced", r.limits_enforced);
  v.any_number("cpu_us", r.cpu_us);
  v.any_number("ram_peak", r.ram_peak);
  v.any_number("stdout_bytes", r.stdout_bytes);
  v.any_number("stderr_bytes", r.stderr_bytes);
  v.time("placed_us", r.placed);
  v.host_time("started_us", r.started);
  v.host_time("ended_us", r.ended);
}

/// In the order that the tables have.
template <class V>
void fields(V& v, typename V::template Ref<model::Resources> r) {
  v.vcpus("vcpu_thousandths", r.vcpus);
  v.amount("gpus", r.gpus);
  v.amount("ram", r.ram);
  v.amount("scratch", r.scratch);
}

/// Table work_specs without the body, which most readers do without; of the record only the number.
template <class V>
void fields(V& v, typename V::template Ref<model::WorkItem> r) {
  v.id("id", r.record.id.value);
  v.number("arrival", r.arrival);
  fields(v, r.shape.needs);
  v.names("types", r.shape.constraints.types);
  v.maybe("market", r.shape.constraints.market, model::Market::kSpot);
  v.text("zone", r.shape.constraints.zone);
  v.names("pools", r.shape.constraints.pools);
  v.gpu_wish("gpu_kind", "gpu_memory", r.shape.needs.gpus, r.shape.constraints.gpu);
  v.number("priority", r.shape.priority);
  v.flag("exclusive", r.shape.exclusive);
  v.number("gang", r.shape.gang.id);
  v.number("gang_count", r.shape.gang.count);
  v.flag("gang_one_zone", r.shape.gang.one_zone);
  v.duration("lasts_us", r.shape.lasts);
  v.flag("restartable", r.shape.restartable);
  v.number("attempts_max", r.shape.attempts_max);
  v.number("start_failures_max", r.shape.start_failures_max);
  v.text("principal", r.principal);
  v.text("name", r.name);
  v.text("client_key", r.client_key);
  v.text("client_digest", r.client_digest);
  v.time("submitted_us", r.submitted);
}

template <class V>
void fields(V& v, typename V::template Ref<model::LeaseRecord> r) {
  v.id("id", r.id.value);
  v.duration("term_us", r.term);
  v.duration("wait_max_us", r.wait_max);
  v.time("until_us", r.until);
  v.flag("used", r.used);
  v.names("ssh_keys", r.ssh_keys);
  v.text("notice_command", r.notice_command);
  v.choice("login", r.login, model::Login::kRoot);
  v.time("told_us", r.told);
}

/// Without the inline output: see InlinePlace.
template <class V>
void fields(V& v, typename V::template Ref<model::AttemptEnd> r) {
  v.choice("reason", r.reason, model::EndReason::kCancelled);
  v.number("exit_code", r.exit_code);
  v.number("signal", r.signal);
  v.text("text", r.text);
  v.any_number("stdout_bytes", r.stdout_bytes);
  v.any_number("stderr_bytes", r.stderr_bytes);
  v.flag("output_is_inline", r.output_is_inline);
  v.flag("has_output_files", r.has_output_files);
  v.any_number("cpu_us", r.cpu_us);
  v.any_number("ram_peak", r.ram_peak);
  v.flag("limits_enforced", r.limits_enforced);
  v.host_time("started_us", r.started);
  v.host_time("ended_us", r.ended);
}

/// The columns of table attempts that are known before the attempt is sent.
template <class V>
void intent_fields(V& v, typename V::template Ref<model::AttemptChanged> r) {
  v.work("work", "kind", r.attempt.work);
  v.id("number", r.attempt.number);
  v.number("instance", r.instance.value);
  v.text("boot_id", r.boot_id);
  v.any_number("sequence", r.sequence);
  v.choice("state", r.state, model::AttemptState::kDone);
  v.cards("cards", r.cards);
}

template <class V>
void fields(V& v, typename V::template Ref<model::AttemptChanged> r) {
  intent_fields(v, r);
  v.optional("has_end", r.end);
}

/// Where the inline output of an attempt is. Segment 0: there is none.
template <class V>
void fields(V& v, typename V::template Ref<InlinePlace> r) {
  v.number("segment", r.segment);
  v.number("segment_offset", r.offset);
  v.number("stdout_inline", r.stdout_length);
  v.number("stderr_inline", r.stderr_length);
}

template <class V>
void fields(V& v, typename V::template Ref<model::HostIdentity> r) {
  v.text("delivered_private_key", r.delivered_private_key);
  v.text("delivered_public_key", r.delivered_public_key);
  v.text("challenge_secret", r.challenge_secret);
  v.text("public_key", r.public_key);
  v.text("next_public_key", r.next_public_key);
  v.text("next_secret", r.next_secret);
  v.maybe("verified_by", r.verified_by, model::VerifyMethod::kChallenge);
  v.choice("rotation", r.rotation, model::Rotation::kDone);
}

template <class V>
void fields(V& v, typename V::template Ref<model::Notice> r) {
  v.choice("notice_source", r.source, model::NoticeSource::kHost);
  v.choice("notice_action", r.action, model::InterruptionAction::kWithdrawn);
  v.time("noticed_us", r.noticed);
  v.host_time("interruption_us", r.at);
  v.text("notice_text", r.text);
}

template <class V>
void fields(V& v, typename V::template Ref<model::InstanceRecord> r) {
  v.id("id", r.id.value);
  v.text("set_name", r.set);
  v.text("pool", r.pool);
  v.text("type", r.type);
  v.text("zone", r.zone);
  v.choice("market", r.market, model::Market::kSpot);
  v.amount("price_per_hour", r.price_per_hour.value);
  v.choice("state", r.state, model::InstanceState::kGone);
  v.choice("idle_behavior", r.idle_behavior, model::IdleBehavior::kDrain);
  v.choice("health", r.health, model::Health::kBroken);
  v.text("provider_id", r.provider_id);
  v.text("request_id", r.request_id);
  v.text("idempotency_key", r.idempotency_key);
  v.number("epoch", r.epoch);
  v.text("address", r.address);
  v.text("remote_user", r.remote_user);
  v.number("ssh_port", r.ssh_port);
  fields(v, r.identity);
  v.text("boot_id", r.boot_id);
  v.any_number("last_sequence", r.last_sequence);
  v.number("destroy_tries", r.destroy_tries);
  v.number("absent_sightings", r.absent_sightings);
  v.code("reason_code", r.reason_code);
  v.text("reason", r.reason);
  v.text("last_text", r.last_text);
  v.time("created_us", r.created);
  v.time("verified_us", r.verified);
  v.time("ready_us", r.ready);
  v.time("first_job_us", r.first_job);
  v.time("state_since_us", r.state_since);
  v.time("gone_us", r.gone);
  v.time("deadline_us", r.deadline);
  v.any_number("off_us", r.off_us);
  v.flag("restored", r.restored);
  fields(v, r.total);
  v.number("jobs_max", r.jobs_max);
  v.number("uses", r.uses);
  v.optional("has_notice", r.interruption);
  v.time("drain_began_us", r.drain_began);
  v.flag("drain_over", r.drain_over);
  v.choice("agent", r.agent, model::AgentReport::kMissing);
  v.time("agent_since_us", r.agent_since);
}

template <class V>
void fields(V& v, typename V::template Ref<model::DriverCrash> r) {
  v.text("driver", r.driver.name);
  v.text("driver_version", r.driver.version);
  v.text("driver_file", r.driver.file);
  v.text("call", r.call);
  v.text("ending", r.ending);
  v.text("output", r.output);
}

template <class V>
void fields(V& v, typename V::template Ref<model::GateRecord> r) {
  v.text("key", r.key);
  v.text("set_name", r.set);
  v.choice("op", r.op, model::CloudOp::kWatch);
  v.choice("cls", r.cls, model::CloudErrorClass::kPrice);
  v.number("scope", r.scope);
  v.text("type", r.type);
  v.text("quota_group", r.group);
  v.text("zone", r.zone);
  v.text("subnet", r.subnet);
  v.text("region", r.region);
  v.text("pool", r.pool);
  v.text("image", r.image);
  v.number("instance", r.instance.value);
  v.maybe("market", r.market, model::Market::kSpot);
  v.time("until_us", r.until);
  v.time("since_us", r.since);
  v.number("failures", r.failures);
  v.text("message", r.message);
  v.optional("has_crash", r.crash);
}

template <class V>
void fields(V& v, typename V::template Ref<model::PriceRow> r) {
  v.text("set_name", r.set);
  v.text("type", r.type);
  v.text("zone", r.zone);
  v.choice("market", r.market, model::Market::kSpot);
  v.time("start_us", r.point.start);
  v.amount("price_per_hour", r.point.per_hour.value);
}

template <class V>
void fields(V& v, typename V::template Ref<model::SetAccount> r) {
  v.text("name", r.set);
  v.text("account", r.account);
  v.text("region", r.region);
}

template <class V>
void fields(V& v, typename V::template Ref<model::ImageRow> r) {
  v.text("set_name", r.set);
  v.text("query", r.query);
  v.text("image", r.image.id);
  v.text("name", r.image.name);
  v.text("owner", r.image.owner);
  v.text("architecture", r.image.architecture);
  v.host_time("created_us", r.image.created);
  v.time("found_us", r.found);
}

template <class V>
void fields(V& v, typename V::template Ref<model::PrincipalUse> r) {
  v.text("principal", r.principal);
  v.amount("micros", r.use.value);
  v.time("as_of_us", r.as_of);
}

template <class V>
void fields(V& v, typename V::template Ref<model::PusherRecord> r) {
  v.text("pool", r.pool);
  v.text("principal", r.principal);
  v.text("session", r.session);
  v.sessions("superseded", r.superseded);
}

template <class V>
void fields(V& v, typename V::template Ref<model::OfferedRow> r) {
  v.text("set_name", r.set);
  v.text("provider_type", r.provider_type);
  v.choice("market", r.market, model::Market::kSpot);
  v.text("zone", r.zone);
  v.text("name", r.name);
  v.text("architecture", r.architecture);
  fields(v, r.resources);
  v.gpu_groups("gpu_groups", r.resources.gpus, r.gpu_groups);
  v.flag("has_price", r.has_price);
  v.amount("price_per_hour", r.price_per_hour.value);
  v.text("currency", r.currency);
  v.choice("available", r.available, model::Availability::kNo);
}

template <class V>
void fields(V& v, typename V::template Ref<model::RamReport> r) {
  v.text("set_name", r.set);
  v.text("type", r.type);
  v.amount("menu_ram", r.menu_ram);
  v.amount("ram", r.ram);
}

template <class V>
void fields(V& v, typename V::template Ref<model::GpuReport> r) {
  v.text("set_name", r.set);
  v.text("type", r.type);
  v.text("kind", r.kind);
  v.amount("memory", r.memory);
  v.number("menu_count", r.menu_count);
  v.number("count", r.count);
}

template <class V>
void fields(V& v, typename V::template Ref<model::LedgerRecord> r) {
  v.any_number("rev", r.rev);
  v.time("time_us", r.time);
  v.any_number("epoch", r.epoch);
  v.text("actor", r.actor);
  v.text("subject", r.subject);
  v.code("event", r.event);
  v.text("reason_code", r.reason_code);
  v.text("reason", r.reason);
  v.any_number("cause_rev", r.cause_rev);
  v.text("data", r.data_json);
}

}  // namespace hostler::store
