#include "core/api/views_json.h"

#include "core/api/view_members.h"
#include "core/api/work_codec.h"
#include "core/base/text.h"
#include "core/json/gpus.h"

namespace hostler::api {

void write_resources(json::Writer& w, const model::Resources& r, const model::GpuWish& gpu) {
  w.begin_object().key("vcpus").thousandths(r.vcpus.thousandths()).member("ram", r.ram);
  if (r.scratch != 0) w.member("scratch", r.scratch);
  if (r.slots > 0) w.member("slots", r.slots);
  json::write_gpus(w, r.gpus, gpu);
  w.end_object();
}

namespace {

void write_demand(json::Writer& w, const model::DemandView& demand) {
  w.begin_object();
  if (demand.tasks > 0)
    w.member("tasks", demand.tasks);
  else
    w.member("jobs", demand.jobs);
  w.key("needs");
  write_resources(w, demand.needs, demand.gpu);
  w.key("waiting_because");
  write_waiting(w, demand.waiting);
  w.end_object();
}

void write_gpus(json::Writer& w, const model::InstanceView& view) {
  const auto& counts = view.card_counts;
  w.key("gpus").begin_object().member("free", counts.free).member("used", counts.used);
  w.member("bad", counts.bad).member("unknown", counts.unknown);
  if (view.guard) w.member("guard", model::to_string(*view.guard));
  w.end_object();
  write_cards(w, view.cards);
}

}  // namespace

void write_instance(json::Writer& w, const model::InstanceView& view) {
  const auto& r = view.record;
  w.begin_object().member("id", r.id.text()).member("state", model::to_string(r.state));
  w.member("idle_behavior", model::to_string(r.idle_behavior));
  w.member("health", model::to_string(r.health));
  w.member("set", r.set).member("pool", r.pool).member("type", r.type);
  member_text(w, "zone", r.zone);
  w.member("market", model::to_string(r.market));
  w.key("price_per_hour").millionths(r.price_per_hour.value);
  member_text(w, "provider_id", r.provider_id);
  if (!r.address.empty()) w.member("address", r.address).member("ssh_port", r.ssh_port);
  if (r.identity.verified_by)
    w.member("verified_by", model::to_string(*r.identity.verified_by))
        .member("host_key", r.identity.public_key)
        .member("rotation", model::to_string(r.identity.rotation));
  if (view.key_alarm) {
    w.key("host_key_alarm").begin_object();
    member_time(w, "since", view.key_alarm->since);
    w.member("seen_key", view.key_alarm->seen_key).end_object();
  }
  if (view.unlisted_since) member_time(w, "unlisted_since", *view.unlisted_since);
  if (r.interruption) {
    w.key("interruption").begin_object();
    w.member("source", model::to_string(r.interruption->source));
    w.member("action", model::to_string(r.interruption->action));
    member_time(w, "noticed", r.interruption->noticed);
    member_time(w, "at", r.interruption->at);
    member_text(w, "text", r.interruption->text);
    w.member("cordoned", view.cordoned).end_object();
  }
  if (r.drain_began.us != 0) {
    w.key("drain").begin_object();
    member_time(w, "began", r.drain_began);
    w.member("over", r.drain_over).end_object();
  }
  member_text(w, "closed", view.closed);
  if (view.init_failed) w.member("init_failed", true);
  member_texts(w, "conditions", view.conditions);
  member_text(w, "reason_code", model::to_string(r.reason_code));
  member_text(w, "reason", r.reason);
  member_text(w, "last_text", r.last_text);
  w.key("total");
  write_resources(w, view.total);
  w.key("used");
  write_resources(w, view.used);
  w.key("attempts").begin_array();
  for (const auto& attempt : view.attempts) w.value(attempt.text());
  w.end_array();
  if (view.card_counts.sum() > 0) write_gpus(w, view);
  if (view.lease) w.member("lease", view.lease->text());
  if (view.uses_max > 0 && r.uses != model::kUsesUnknown) w.member("uses", r.uses);
  if (view.uses_max > 0) w.member("uses_max", view.uses_max);
  member_time(w, "created", r.created);
  member_time(w, "verified", r.verified);
  member_time(w, "ready", r.ready);
  member_time(w, "first_job", r.first_job);
  member_time(w, "state_since", r.state_since);
  w.end_object();
}

void write_console(json::Writer& w, const model::ConsoleView& view) {
  w.begin_object().member("text", view.text).member("cut", view.cut);
  if (view.as_of) w.member("as_of", format_wall(*view.as_of));
  w.end_object();
}

namespace {

/// Left out where it is unknown, or no number of JSON.
void member_number(json::Writer& w, std::string_view key, const std::optional<double>& number) {
  if (number && std::isfinite(*number)) w.member(key, *number);
}

void write_bounds(json::Writer& w, const std::vector<model::BoundView>& bounds) {
  w.key("bounds").begin_array();
  for (const auto& bound : bounds) {
    w.begin_object().member("bound", bound.bound).member("expression", bound.expression);
    member_number(w, "computed", bound.computed);
    if (bound.wanted) w.member("wanted", *bound.wanted);
    if (bound.number) w.member("number", *bound.number);
    member_texts(w, "changes", bound.changes);
    member_text(w, "from", bound.from);
    member_text(w, "unknown", bound.unknown);
    w.end_object();
  }
  w.end_array();
}

void write_metrics(json::Writer& w, const std::vector<model::MetricView>& metrics) {
  w.key("metrics").begin_array();
  for (const auto& metric : metrics) {
    w.begin_object().member("name", metric.name);
    member_text(w, "key", metric.key);
    member_number(w, "value", metric.value);
    member_text(w, "problem", metric.problem);
    member_number(w, "substitute", metric.substitute);
    if (metric.age) w.member("age", format_duration(*metric.age));
    w.end_object();
  }
  w.end_array();
}

void write_selection(json::Writer& w, const model::SelectionView& view) {
  w.key("selection").begin_object();
  w.member("offered", view.offered).member("selected", view.selected);
  w.key("excluded").begin_object();
  for (const auto& [why, count] : view.excluded) w.member(why, count);
  w.end_object().key("unknown").begin_array();
  for (const auto& set : view.unknown) w.value(set);
  w.end_array().member("text", view.text).end_object();
}

}  // namespace

void write_pool(json::Writer& w, const model::PoolView& view) {
  w.begin_object().member("name", view.name).member("min", view.min).member("max", view.max);
  w.member("standby", view.standby).member("stopped", view.stopped);
  if (view.created_min) w.member("created_min", *view.created_min);
  if (view.created_max) w.member("created_max", *view.created_max);
  if (!view.bounds.empty()) write_bounds(w, view.bounds);
  member_texts(w, "conditions", view.conditions);
  w.key("instances").begin_object();
  for (const auto& [state, count] : view.instances) w.member(state, count);
  w.end_object().key("price_per_hour").millionths(view.price_per_hour.value);
  if (view.selection) write_selection(w, *view.selection);
  w.end_object();
}

void write_type(json::Writer& w, const model::TypeView& view) {
  w.begin_object().member("name", view.name).member("provider_type", view.provider_type);
  member_text(w, "set", view.set);
  w.member("market", model::to_string(view.market));
  w.member("vcpus", view.resources.vcpus.whole());
  json::write_gpus_value(w.key("gpus"), view.resources.gpus, view.gpu_groups);
  w.member("ram", view.resources.ram).member("ram_for_jobs", view.ram_for_jobs);
  w.member("scratch", view.resources.scratch);
  w.key("price_per_hour").millionths(view.price_per_hour.value);
  w.member("configured", view.configured).key("zones").begin_array();
  for (const auto& zone : view.zones) {
    w.begin_object();
    member_text(w, "zone", zone.name);
    w.key("price_per_hour").millionths(zone.price_per_hour.value);
    w.member("unavailable", zone.unavailable).member("configured", zone.configured).end_object();
  }
  w.end_array().key("pools").begin_array();
  for (const auto& pool : view.pools) w.value(pool);
  w.end_array().end_object();
}

void write_gate(json::Writer& w, const model::GateRecord& gate) {
  w.begin_object().member("key", gate.key).member("set", gate.set);
  w.member("operation", model::to_string(gate.op)).member("class", model::to_string(gate.cls));
  member_text(w, "type", gate.type);
  member_text(w, "group", gate.group);
  member_text(w, "zone", gate.zone);
  member_text(w, "subnet", gate.subnet);
  member_text(w, "region", gate.region);
  member_text(w, "pool", gate.pool);
  member_text(w, "image", gate.image);
  if (gate.market) w.member("market", model::to_string(*gate.market));
  member_time(w, "until", gate.until);
  member_time(w, "since", gate.since);
  w.member("failures", gate.failures).member("message", gate.message).end_object();
}

void write_ledger(json::Writer& w, const model::LedgerRecord& record) {
  w.begin_object().member("v", 1).member("rev", record.rev).member("time_us", record.time.us);
  w.member("epoch", record.epoch).member("actor", record.actor);
  w.member("subject", record.subject).member("event", model::to_string(record.event));
  member_text(w, "reason_code", record.reason_code);
  member_text(w, "reason", record.reason);
  if (record.cause_rev != 0) w.member("cause_rev", record.cause_rev);
  if (!record.data_json.empty()) w.key("data").raw(record.data_json);
  w.end_object();
}

void write_why(json::Writer& w, const WhyView& why) {
  w.begin_object().member("subject", why.subject);
  if (why.waiting) {
    w.key("waiting_because");
    write_waiting(w, *why.waiting);
  }
  if (why.turn) {
    w.key("turn").begin_object().member("principal", why.turn->principal);
    w.key("percent").millionths(percent(why.turn->part));
    w.member("priority", why.turn->priority).member("before", why.turn->before).end_object();
  }
  if (why.until) member_time(w, "until", *why.until);
  if (why.instance) write_instance(w.key("instance"), *why.instance);
  if (why.pool) write_pool(w.key("pool"), *why.pool);
  if (why.set) write_set(w.key("set"), *why.set);
  member_text(w, "ceiling", why.reasons.ceiling);
  member_texts(w, "conditions", why.conditions);
  if (!why.reasons.metrics.empty()) write_metrics(w, why.reasons.metrics);
  w.key("demand").begin_array();
  for (const auto& one : why.reasons.demand) write_demand(w, one);
  w.end_array();
  if (why.reasons.shapes_not_examined > 0)
    w.member("shapes_not_examined", why.reasons.shapes_not_examined);
  w.key("rejected").begin_array();
  for (const auto& one : why.reasons.rejected) {
    w.begin_object().member("type", one.type);
    member_text(w, "zone", one.zone);
    w.member("market", one.market).member("pool", one.pool).member("reason", one.reason);
    w.end_object();
  }
  w.end_array().key("gates").begin_array();
  for (const auto& gate : why.gates) write_gate(w, gate);
  w.end_array().key("records").begin_array();
  for (const auto& record : why.records) write_ledger(w, record);
  w.end_array().end_object();
}

void write_output(json::Writer& w, const OutputPart& part) {
  w.begin_object().member("attempt", part.attempt);
  w.member("offset", part.offset).member("lost", part.lost);
  w.member("ended", part.ended).member("complete", part.complete);
  if (part.data.empty() || is_utf8(part.data)) {
    w.member("text", part.data);
  } else {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(part.data.data());
    w.member("hex", to_hex({bytes, part.data.size()}));
  }
  w.end_object();
}

void write_health(json::Writer& w, const HealthView& health, bool in_full) {
  w.begin_object().member("ok", health.ok).member("version", health.version);
  w.member("revision", health.revision).key("problems").begin_array();
  for (const auto& [of, text] : health.problems) w.value(in_full ? of + ": " + text : of);
  w.end_array().end_object();
}

}  // namespace hostler::api
