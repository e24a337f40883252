#include "core/api/lease_codec.h"

#include <chrono>

#include "core/base/units.h"

namespace hostler::api {
namespace {

using json::Object;
using json::Writer;
using namespace std::chrono_literals;

void read_members(Object& o, const model::JobLimits& limits, model::LeaseSpec& spec) {
  o.need("for").duration(spec.term, model::kTermMin, model::kTermMax);
  std::string pool;
  if (o.may("pool").name(pool)) spec.constraints.pools = {pool};
  o.may("wait_max").duration(spec.wait_max, 1s, 24h * 3650);
  read_common(o, limits, spec);
}

/// The host that it has, or is to get.
void write_host(Writer& w, const model::InstanceRecord& host, bool is_granted) {
  w.key("host").begin_object().member("pool", host.pool).member("type", host.type);
  if (!host.zone.empty()) w.member("zone", host.zone);
  w.member("market", to_string(host.market));
  w.key("price_per_hour").millionths(host.price_per_hour.value);
  if (is_granted) w.member("address", host.address).member("ssh_port", host.ssh_port);
  w.end_object();
}

}  // namespace

Result<model::LeaseSpec> read_lease(std::string_view json, const model::JobLimits& limits) {
  model::LeaseSpec spec;
  HOSTLER_TRY(json::read_object(json, {}, [&](Object& o) { read_members(o, limits, spec); }));
  return spec;
}

std::string canonical_body(const model::LeaseSpec& spec) {
  std::string out;
  Writer w(out, Writer::Disruptive::kAsItIs);
  w.begin_object();
  if (!spec.name.empty()) w.member("name", spec.name);
  w.member("for", exact_duration(spec.term));
  if (spec.wait_max != Duration{}) w.member("wait_max", exact_duration(spec.wait_max));
  for (const auto& pool : spec.constraints.pools) w.member("pool", pool);  // One at most.
  write_needs(w, spec.needs);
  if (spec.priority != 0) w.member("priority", spec.priority);
  write_constraints(w, spec.constraints);
  if (!spec.client_key.empty()) w.member("client_key", spec.client_key);
  w.end_object();
  return out;
}

LeaseRows submitted_lease(const model::LeaseSpec& spec) {
  LeaseRows out{submitted_work(spec, canonical_body(spec)), {}};
  out.work.record.id.kind = out.terms.id.kind = model::WorkKind::kLease;
  out.work.shape.exclusive = true;
  out.terms.term = spec.term;
  out.terms.wait_max = spec.wait_max;
  return out;
}

void write_lease(Writer& w, const LeaseRows& lease, const LeaseNow& now, Sight sight) {
  const auto& [work, terms] = lease;
  const model::WorkRecord& record = work.record;
  w.begin_object();
  write_head(w, work, model::lease_state(record.state), sight);
  if (record.instance) w.member("instance", record.instance.text());
  if (record.cancel_requested) w.member("cancel_requested", true);
  w.member("principal", work.principal);
  write_time(w, "submitted", work.submitted);
  write_time(w, "granted", record.started);
  write_time(w, "until", terms.until);
  write_time(w, "ended", record.ended);
  if (now.waiting) write_waiting(w.key("waiting_because"), *now.waiting);
  if (now.host) write_host(w, now.host->record, record.state == model::WorkState::kRunning);
  w.member("for", exact_duration(terms.term));
  if (terms.wait_max != Duration{}) w.member("wait_max", exact_duration(terms.wait_max));
  write_texts(w, "pools", work.shape.constraints.pools);
  write_needs(w, work.shape.needs);
  if (work.shape.priority != 0) w.member("priority", work.shape.priority);
  write_constraints(w, work.shape.constraints);
  if (!work.client_key.empty() && sight == Sight::kAll) w.member("client_key", work.client_key);
  w.end_object();
}

}  // namespace hostler::api
