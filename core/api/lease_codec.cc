#include "core/api/lease_codec.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/crypto/known_hosts.h"
#include "core/crypto/login_keys.h"
#include "core/model/lease_account.h"

namespace hostler::api {
namespace {

using json::Object;
using json::Writer;
using namespace std::chrono_literals;

constexpr std::size_t kNoticeCommandMax = 16384;
/// The largest size of a gang: each of its leases has the whole request, in its rows and in memory.
constexpr std::size_t kGangBytesMax = std::size_t{8} << 20;

/// The limit of the list is above that of parse_login_keys(), whose message says more.
void read_keys(const json::Field& field, std::vector<std::string>& out) {
  constexpr std::size_t kRead = 2000, kKeyBytes = 4 * crypto::kLoginKeyBytesMax;
  std::vector<std::string> lines;
  if (!field.texts(lines, kRead, {.bytes_max = kKeyBytes, .secret = true})) return;
  const auto keys = crypto::parse_login_keys(lines);
  if (!keys) {
    field.problem(keys.error().message, keys.error().code);
    return;
  }
  for (const auto& key : *keys) out.push_back(key.line());
}

void check_size(const json::Field& count, const model::LeaseSpec& spec) {
  if (spec.count == 1) return;
  const std::size_t each = canonical_body(spec).size(), most = kGangBytesMax / each;
  if (spec.count > most)
    count.problem("each lease of a gang has its whole request, which is " + std::to_string(each) +
                  " bytes: ask for at most " + std::to_string(most) +
                  " leases at once, or for shorter ssh_keys and notice_command");
}

void read_members(Object& o, const model::JobLimits& limits, model::LeaseSpec& spec) {
  o.need("for").duration(spec.term, model::kTermMin, model::kTermMax);
  std::string pool;
  if (o.may("pool").name(pool)) spec.constraints.pools = {pool};
  o.may("wait_max").duration(spec.wait_max, 1s, 24h * 3650);
  const json::Field count = o.may("count");
  count.integer(spec.count, 1, model::kGangMax);
  const json::Field one_zone = o.may("one_zone");
  if (one_zone.boolean(spec.one_zone) && spec.one_zone && spec.count == 1)
    one_zone.problem("it needs a count above 1 (--count 2)");
  read_keys(o.may("ssh_keys"), spec.ssh_keys);
  const json::Field notice = o.may("notice_command");
  if (notice.text(spec.notice_command, {.bytes_max = kNoticeCommandMax, .bytes_min = 1}) &&
      spec.ssh_keys.empty())
    notice.problem("it runs as the account of the lease, which has one only with ssh_keys");
  read_common(o, limits, spec);
  check_size(count, spec);
}

void write_known_hosts(Writer& w, const model::InstanceRecord& host,
                       const std::optional<JumpHost>& jump) {
  w.key("known_hosts").begin_array();
  const auto write = [&w](const std::string& name, std::uint16_t port, const std::string& key) {
    if (const auto line = crypto::known_hosts_line(name, port, key)) w.value(*line);
  };
  write(host.address, host.ssh_port, host.identity.public_key);
  if (!host.identity.next_public_key.empty())  // While its key is replaced, it may show either.
    write(host.address, host.ssh_port, host.identity.next_public_key);
  if (jump) write(jump->host, jump->port, jump->host_key);
  w.end_array();
}

/// How the holder reaches the host.
void write_reach(Writer& w, const LeaseRows& lease, const model::InstanceRecord& host,
                 const std::optional<JumpHost>& jump) {
  w.member("address", host.address).member("ssh_port", host.ssh_port);
  if (!host.identity.public_key.empty()) write_known_hosts(w, host, jump);
  if (jump)
    w.key("jump_host")
        .begin_object()
        .member("host", jump->host)
        .member("port", jump->port)
        .end_object();
  const model::Login login = lease.terms.login;
  if (login == model::Login::kNone) return;
  const model::LeaseAccount account{lease.work.record.id, "", login == model::Login::kRoot};
  w.member("user", account.user()).member("notice_file", account.notice_file());
}

/// The host that the lease has, or is to get.
void write_host(Writer& w, const LeaseRows& lease, const LeaseNow& now) {
  const model::InstanceRecord& host = now.host->record;
  w.key("host").begin_object().member("pool", host.pool).member("type", host.type);
  if (!host.zone.empty()) w.member("zone", host.zone);
  w.member("market", to_string(host.market));
  w.key("price_per_hour").millionths(host.price_per_hour.value);
  write_cards(w, now.host->cards);
  if (lease.work.record.state == model::WorkState::kRunning)
    write_reach(w, lease, host, now.jump_host);
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
  if (spec.count != 1) w.member("count", spec.count);
  if (spec.one_zone) w.member("one_zone", true);
  for (const auto& pool : spec.constraints.pools) w.member("pool", pool);  // One at most.
  write_needs(w, spec.needs, spec.constraints.gpu);
  if (spec.priority != 0) w.member("priority", spec.priority);
  write_constraints(w, spec.constraints);
  write_texts(w, "ssh_keys", spec.ssh_keys);
  if (!spec.notice_command.empty()) w.member("notice_command", spec.notice_command);
  if (!spec.client_key.empty()) w.member("client_key", spec.client_key);
  w.end_object();
  return out;
}

LeaseRows submitted_lease(const model::LeaseSpec& spec) {
  LeaseRows out{submitted_work(spec, canonical_body(spec)), {}};
  out.work.record.id.kind = out.terms.id.kind = model::WorkKind::kLease;
  out.work.shape.exclusive = true;
  out.work.shape.lasts = spec.term;
  if (spec.count > 1) out.work.shape.gang = {0, spec.count, spec.one_zone};
  out.terms.term = spec.term;
  out.terms.wait_max = spec.wait_max;
  out.terms.ssh_keys = spec.ssh_keys;
  out.terms.notice_command = spec.notice_command;
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
  if (now.host) write_host(w, lease, now);
  w.member("for", exact_duration(terms.term));
  if (terms.wait_max != Duration{}) w.member("wait_max", exact_duration(terms.wait_max));
  write_texts(w, "pools", work.shape.constraints.pools);
  if (const model::Gang& gang = work.shape.gang; gang.count > 0) {
    w.member("gang", model::WorkId{gang.id, model::WorkKind::kLease}.text());
    w.member("count", gang.count);
    if (gang.one_zone) w.member("one_zone", true);
  }
  write_needs(w, work.shape.needs, work.shape.constraints.gpu);
  if (work.shape.priority != 0) w.member("priority", work.shape.priority);
  write_constraints(w, work.shape.constraints);
  if (sight == Sight::kAll) {
    write_texts(w, "ssh_keys", terms.ssh_keys);
    if (!terms.notice_command.empty()) w.member("notice_command", terms.notice_command);
    if (!work.client_key.empty()) w.member("client_key", work.client_key);
  }
  w.end_object();
}

}  // namespace hostler::api
