#include "core/api/views_json.h"

#include <chrono>
#include <cmath>

#include "core/api/access.h"
#include "core/api/job_codec.h"
#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::api {
namespace {

void member_time(json::Writer& w, std::string_view key, Wall at) {
  if (at.us != 0) w.member(key, format_wall(at));
}
void member_text(json::Writer& w, std::string_view key, const std::string& text) {
  if (!text.empty()) w.member(key, text);
}
void member_texts(json::Writer& w, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  w.key(key).begin_array();
  for (const auto& text : texts) w.value(text);
  w.end_array();
}
void write_resources(json::Writer& w, const model::Resources& r) {
  w.begin_object().member("vcpus", r.vcpus).member("ram", r.ram);
  if (r.scratch != 0) w.member("scratch", r.scratch);
  if (r.gpus != 0) w.member("gpus", r.gpus);
  w.end_object();
}

/// In millionths of a percent, to one digit behind the point.
std::int64_t percent(double part) {
  return static_cast<std::int64_t>(std::lround(part * 1000)) * 100'000;
}

void write_demand(json::Writer& w, const model::DemandView& demand) {
  w.begin_object().member("jobs", demand.jobs).key("needs");
  write_resources(w, demand.needs);
  w.key("waiting_because");
  write_waiting(w, demand.waiting);
  w.end_object();
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

void write_selection(json::Writer& w, const model::SelectionView& view) {
  w.key("selection").begin_object();
  w.member("offered", view.offered).member("selected", view.selected);
  w.key("excluded").begin_object();
  for (const auto& [why, count] : view.excluded) w.member(why, count);
  w.end_object().key("unknown").begin_array();
  for (const auto& set : view.unknown) w.value(set);
  w.end_array().member("text", view.text).end_object();
}

void write_offerings(json::Writer& w, const model::OfferingsView& view) {
  w.key("offerings").begin_object().member("types", view.types);
  member_time(w, "fetched", view.fetched);
  member_text(w, "problem", view.problem);
  member_text(w, "ignored", view.ignored);
  w.end_object();
}

}  // namespace

void write_pool(json::Writer& w, const model::PoolView& view) {
  w.begin_object().member("name", view.name).member("min", view.min).member("max", view.max);
  w.member("standby", view.standby).member("stopped", view.stopped);
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
  w.member("vcpus", view.resources.vcpus).member("gpus", view.resources.gpus);
  w.member("ram", view.resources.ram).member("scratch", view.resources.scratch);
  w.key("price_per_hour").millionths(view.price_per_hour.value).key("zones").begin_array();
  for (const auto& zone : view.zones) {
    w.begin_object();
    member_text(w, "zone", zone.name);
    w.key("price_per_hour").millionths(zone.price_per_hour.value);
    w.member("unavailable", zone.unavailable).end_object();
  }
  w.end_array().key("pools").begin_array();
  for (const auto& pool : view.pools) w.value(pool);
  w.end_array().end_object();
}

namespace {

void write_driver(json::Writer& w, const model::DriverView& view) {
  w.key("driver").begin_object().member("name", view.name);
  member_text(w, "version", view.version);
  w.member("isolation", view.isolation);
  member_text(w, "sandbox", view.sandbox);
  w.member("state", view.state).member("crashes", view.crashes);
  member_text(w, "last_crash", view.last_crash);
  w.member("broken_rules", view.broken_rules);
  member_text(w, "last_broken_rule", view.last_broken_rule);
  member_text(w, "pending", view.pending);
  w.member("draining", view.draining);
  w.end_object();
}

}  // namespace

void write_crash(json::Writer& w, const model::GateRecord& gate) {
  const model::DriverCrash& crash = *gate.crash;
  w.begin_object().member("call", crash.call);
  member_text(w, "type", gate.type);
  member_text(w, "zone", gate.zone);
  member_text(w, "pool", gate.pool);
  if (gate.instance.value != 0) w.member("instance", gate.instance.text());
  w.member("driver", crash.driver.name);
  member_text(w, "version", crash.driver.version);
  w.member("ending", crash.ending);
  member_text(w, "output", crash.output);
  w.member("failures", gate.failures);
  if (gate.until.us != 0) {
    member_time(w, "until", gate.until);
    w.member("gate", gate.key);
  }
  w.end_object();
}

void write_image(json::Writer& w, const model::ImageView& view) {
  w.begin_object().member("query", view.query);
  member_text(w, "id", view.image.id);
  member_text(w, "name", view.image.name);
  member_text(w, "owner", view.image.owner);
  member_text(w, "architecture", view.image.architecture);
  member_time(w, "created", view.image.created);
  member_time(w, "found", view.found);
  member_text(w, "error", view.error);
  w.end_object();
}

void write_leftovers(json::Writer& w, const model::LeftoversView& view) {
  w.begin_object().member("rule", view.rule).member("found", view.found);
  w.member("confirmed", view.confirmed).member("destroying", view.destroying);
  member_time(w, "listed", view.listed);
  member_text(w, "error", view.error);
  w.key("things").begin_array();
  for (const auto& thing : view.things) {
    w.begin_object().member("type", thing.type).member("id", thing.id);
    member_text(w, "instance", thing.instance);
    member_time(w, "since", thing.since);
    w.member("confirmed", thing.confirmed).member("destroying", thing.destroying);
    member_text(w, "error", thing.error);
    w.end_object();
  }
  w.end_array().end_object();
}

void write_set(json::Writer& w, const model::SetView& view) {
  w.begin_object().member("name", view.name).member("open", view.open);
  w.member("foreign_owner", view.foreign_owner);
  if (view.driver) write_driver(w, *view.driver);
  member_text(w, "account", view.account);
  member_text(w, "region", view.region);
  member_text(w, "jump_host", view.jump_host);
  if (view.reported) {
    w.key("reported").begin_object();
    member_text(w, "account", view.reported->account);
    member_text(w, "region", view.reported->region);
    w.end_object();
  }
  w.member("list", view.list).key("missing").begin_array();
  for (const auto id : view.missing) w.value(id.text());
  w.end_array();
  if (view.doubt) {
    w.key("doubt").begin_object();
    member_time(w, "since", *view.doubt);
    w.member("asking", view.asking).end_object();
  }
  if (view.partition) {
    w.key("partition").begin_object();
    member_time(w, "since", *view.partition);
    w.end_object();
  }
  if (!view.crashes.empty()) {
    w.key("crashes").begin_array();
    for (const auto& gate : view.crashes) write_crash(w, gate);
    w.end_array();
  }
  if (!view.images.empty()) {
    w.key("images").begin_array();
    for (const auto& image : view.images) write_image(w, image);
    w.end_array();
  }
  if (view.offerings) write_offerings(w, *view.offerings);
  if (view.leftovers) write_leftovers(w.key("leftovers"), *view.leftovers);
  member_text(w, "creates_refused", view.creates_refused);
  member_text(w, "problem", view.problem);
  member_texts(w, "conditions", view.conditions);
  w.end_object();
}

void write_prices(json::Writer& w, const PricesView& view) {
  w.begin_object().key("prices").begin_array();
  for (const auto& price : view.prices) {
    w.begin_object().member("set", price.set).member("type", price.type);
    member_text(w, "zone", price.zone);
    w.member("market", model::to_string(price.market));
    member_time(w, "start", price.point.start);
    w.key("price_per_hour").millionths(price.point.per_hour.value).end_object();
  }
  w.end_array().member("more", view.more).end_object();
}

void write_cost(json::Writer& w, const model::CostView& view) {
  w.begin_object();
  member_time(w, "since", view.since);
  member_time(w, "until", view.until);
  if (view.total) w.key("total").millionths(view.total->value);
  if (view.unused) w.key("unused").millionths(view.unused->value);
  w.key("rows").begin_array();
  for (const auto& row : view.rows) {
    w.begin_object().member("name", row.name).key("cost").millionths(row.cost.value);
    w.member("seconds", row.used_us / 1'000'000).end_object();
  }
  w.end_array().member("more", view.more).end_object();
}

void write_quota(json::Writer& w, const model::QuotaView& view) {
  const model::Quota& quota = view.quota;
  const auto limit = [&](const char* key, const std::optional<std::int64_t>& value) {
    if (value) w.member(key, *value);
  };
  w.begin_object().member("principal", view.principal).member("role", to_string(view.role));
  w.key("limits").begin_object();
  limit("jobs_waiting_max", quota.jobs_waiting_max);
  limit("shapes_waiting_max", quota.shapes_waiting_max);
  limit("submits_per_minute_max", quota.submits_per_minute_max);
  limit("blob_bytes_max", quota.blob_bytes_max);
  limit("output_bytes_max", quota.output_bytes_max);
  limit("priority_max", quota.priority_max);
  limit("running_vcpus_max", quota.running_vcpus_max);
  if (const auto& price = quota.running_price_per_hour_max)
    w.key("running_price_per_hour_max").millionths(price->value);
  w.end_object().key("now").begin_object();
  w.member("jobs_waiting", view.jobs_waiting).member("shapes_waiting", view.shapes_waiting);
  w.member("submits_last_minute", view.submits_last_minute);
  w.member("blob_bytes", view.blob_bytes).member("output_bytes", view.output_bytes);
  w.member("running_vcpus", view.running_vcpus);
  w.key("running_price_per_hour").millionths(view.running_price_per_hour.value);
  w.end_object().end_object();
}

void write_shares(json::Writer& w, const model::SharesView& view) {
  w.begin_object().member("half_life_seconds",
                          std::chrono::duration_cast<std::chrono::seconds>(view.half_life).count());
  w.key("recent_use").millionths(view.use.value);
  w.key("principals").begin_array();
  for (const auto& one : view.principals) {
    w.begin_object().member("principal", one.principal);
    w.key("recent_use").millionths(one.use.value);
    w.key("percent").millionths(percent(one.part));
    w.key("price_per_hour").millionths(one.price_per_hour.value).member("vcpus", one.vcpus);
    w.member("running", one.running).member("waiting", one.waiting);
    if (one.vcpus_max) w.member("vcpus_max", *one.vcpus_max);
    if (one.price_per_hour_max)
      w.key("price_per_hour_max").millionths(one.price_per_hour_max->value);
    w.end_object();
  }
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
  if (why.instance) write_instance(w.key("instance"), *why.instance);
  if (why.pool) write_pool(w.key("pool"), *why.pool);
  if (why.set) write_set(w.key("set"), *why.set);
  member_text(w, "ceiling", why.reasons.ceiling);
  member_texts(w, "conditions", why.conditions);
  w.key("demand").begin_array();
  for (const auto& one : why.reasons.demand) write_demand(w, one);
  w.end_array().key("rejected").begin_array();
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
