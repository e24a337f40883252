#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/config/plan_keys.h"
#include "core/config/readers.h"
#include "core/json/document.h"
#include "core/json/writer.h"

namespace hostler::config {
namespace {

constexpr std::array kReadiness{
    json::Word<model::Readiness>{"agent", model::Readiness::kAgent},
    json::Word<model::Readiness>{"ssh", model::Readiness::kSsh},
    json::Word<model::Readiness>{"cloud", model::Readiness::kCloud},
    json::Word<model::Readiness>{"reported", model::Readiness::kReported},
};
constexpr std::array kInitFailures{
    json::Word<model::InitFailure>{"fail", model::InitFailure::kFail},
    json::Word<model::InitFailure>{"warn", model::InitFailure::kWarn},
};
constexpr std::array kInitDeliveries{
    json::Word<model::InitDelivery>{"auto", model::InitDelivery::kAuto},
    json::Word<model::InitDelivery>{"user_data", model::InitDelivery::kUserData},
    json::Word<model::InitDelivery>{"ssh", model::InitDelivery::kSsh},
};
constexpr std::array kMethods{
    json::Word<model::VerifyMethod>{"driver", model::VerifyMethod::kDriver},
    json::Word<model::VerifyMethod>{"delivered", model::VerifyMethod::kDelivered},
    json::Word<model::VerifyMethod>{"challenge", model::VerifyMethod::kChallenge},
};

/// Reads a list of names of `known` objects: at least one name, each once. `kind` names the objects
/// in messages.
template <class Known>
void read_references(const json::Field& field, const Known& known, const std::string& kind,
                     std::vector<std::string>& out) {
  std::string all;
  for (const auto& entry : known) all += (all.empty() ? "" : ", ") + printable(entry.name, 63);
  std::set<std::string> taken;
  field.each(1000, [&](const json::Field& element) {
    std::string name;
    if (!element.name(name)) return;
    claim_name(element, name, taken);
    if (std::ranges::none_of(known, [&](const auto& entry) { return entry.name == name; }))
      element.problem("found \"" + name + "\", which is not a configured " + kind +
                      ", allowed: " + (all.empty() ? "none are configured" : printable(all, 300)));
    out.push_back(std::move(name));
  });
  if (field.present() && field.value()->is(json::Kind::kArray) && field.value()->size() == 0)
    field.problem("found no " + kind + ", allowed: at least one");
}

/// A list of names, or the properties by which types are chosen.
void read_pool_types(const json::Field& field, const model::SitePolicy& site,
                     model::PoolPolicy& out) {
  if (field.present() && field.value()->is(json::Kind::kObject))
    read_selector(field, out.selector.emplace());
  else
    read_references(field, site.types, "type", out.types);
}

void read_verify(const json::Field& field, std::vector<model::VerifyMethod>& out) {
  std::vector<model::VerifyMethod> methods;
  const bool read = field.each(kMethods.size(), [&](const json::Field& element) {
    model::VerifyMethod method{};
    if (!element.word(method, kMethods)) return;
    if (std::ranges::find(methods, method) != methods.end())
      element.problem("found twice, allowed: each once");
    methods.push_back(method);
  });
  if (!read) return;
  if (field.value()->size() == 0)
    field.problem("found no method, allowed: at least one, because every host must be verified");
  out = std::move(methods);
}

void read_checks(const json::Field& field, std::vector<model::BrokenCheck>& out) {
  std::set<std::string> names;
  field.each(32, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      model::BrokenCheck& check = out.emplace_back();
      const json::Field name = o.need("name");
      if (name.name(check.name)) claim_name(name, check.name, names);
      o.need("command").text(check.command, {.bytes_max = kCommandMax, .bytes_min = 1});
      o.may("interval").duration(check.interval, 1s, 24h);
    });
  });
}

void read_interruptions(json::Object& o, model::PoolPolicy& out) {
  o.may("interruption_check").object([&](json::Object& check) {
    check.need("command").text(out.interruption_check.command,
                               {.bytes_max = kCommandMax, .bytes_min = 1});
    check.may("interval").duration(out.interruption_check.interval, 1s, 1h);
  });
  o.may("interruption_command").text(out.interruption_command, {.bytes_max = kCommandMax});
  o.may("interruption_lead").duration(out.interruption_lead, 0s, 24h);
  o.may("interruption_margin").duration(out.interruption_margin, 0s, 1h);
}

/// The members of both objects; where both have one, that of `over`.
std::string merged(const std::string& under, const std::string& over) {
  const auto below = json::Document::parse(under), above = json::Document::parse(over);
  std::string out;
  if (!below || !above) return out;
  json::Writer w(out);
  w.begin_object();
  for (const json::Value member : below->root().children())
    if (!above->root().has(member.key())) w.key(member.key()).value(member);
  for (const json::Value member : above->root().children()) w.key(member.key()).value(member);
  w.end_object();
  return out;
}

void read_provider_params(const json::Field& field, const model::SitePolicy& site,
                          model::PoolPolicy& out) {
  std::string own;
  if (!field.object_text(own, std::size_t{16} * 1024)) return;
  if (out.selector) out.selector->provider_params_json = own;
  for (const auto& type : site.types)
    if (std::ranges::find(out.types, type.name) != out.types.end())
      out.provider_params[type.name] = merged(type.provider_params_json, own);
}

void read_timers(json::Object& o, model::PoolPolicy& out) {
  o.may("idle_timeout").duration(out.idle_timeout, 100ms, kLongest);
  o.may("boot_timeout").duration(out.boot_timeout, 1s, 24h);
  o.may("probe_timeout").duration(out.probe_timeout, 1s, 24h);
  o.may("shutdown_timeout").duration(out.shutdown_timeout, 100ms, 1h);
  o.may("spot_patience").duration(out.spot_patience, 0s, kLongest);
  o.may("spot_shortage_patience").duration(out.spot_shortage_patience, 0s, kLongest);
  o.may("starvation_after").duration(out.starvation_after, 1s, kLongest);
}

/// hostler logs in on hosts of this set as a user that never becomes root.
bool is_never_root(const Config& config, std::size_t set) {
  const std::string& user = config.site.sets[set].remote_user;
  return config.sets[set].escalate == Escalate::kNone && !user.empty() && user != "root";
}

void check_login_set(const json::Field& field, const Config& config, std::size_t set) {
  const std::string name = "set \"" + config.sets[set].name + "\"";
  if (config.sets[set].driver == "local")
    field.problem("login is not allowed with " + name +
                  ", since instances of the driver local share the accounts of this machine; "
                  "allowed here: none");
  if (is_never_root(config, set))
    field.problem("login needs root on the hosts, who makes the account: " + name +
                  " has the remote_user \"" + printable(config.site.sets[set].remote_user) +
                  "\" and escalate none, allowed: auto, sudo");
}

/// A login needs an account that ends with its host, and a connection by which it is made.
void check_login(const json::Field& field, const Config& config, const model::PoolPolicy& pool) {
  if (!pool.leases || pool.leases->login == model::Login::kNone) return;
  if (!model::needs_link(pool.readiness))
    field.problem(
        "login needs readiness agent or ssh, because the account is made over the proved "
        "connection; allowed here: none");
  if (!pool.leases->clean_command.empty())
    field.problem(
        "clean_command is never run with login, because a host on which somebody could "
        "log in is always destroyed: remove one of the two");
  for (std::size_t i = 0; i < config.sets.size(); ++i)
    if (std::ranges::find(pool.sets, config.sets[i].name) != pool.sets.end())
      check_login_set(field, config, i);
}

/// Hosts without an agent are lent, or serve others than hostler; else they are of no use. Some
/// need no connection, so that nothing can be sent there.
void check_readiness(json::Object& o, const model::PoolPolicy& pool) {
  const std::string kind = to_string(pool.readiness);
  const bool serves_others = pool.leases || pool.pushed || pool.sizes.texts.any();
  if (pool.readiness != model::Readiness::kAgent && !serves_others)
    o.may("readiness")
        .problem(
            "found \"" + kind +
            "\" in a pool that lends no hosts: hosts without an agent run no "
            "jobs; allowed: agent, or any with `leases`, with `pushed`, or with a bound that is an "
            "expression");
  if (pool.leases && !pool.leases->clean_command.empty() && !model::needs_link(pool.readiness))
    o.may("leases").problem(
        "clean_command needs readiness agent or ssh, because it runs over the proved connection; "
        "without it, hosts that were used are destroyed");
  if (!model::needs_link(pool.readiness) && pool.init_delivery == model::InitDelivery::kSsh)
    o.may("init_delivery")
        .problem(
            "found \"ssh\", allowed: auto, user_data, since nobody connects to hosts whose "
            "readiness is \"" +
            kind + "\"");
}

void read_pool(json::Object& o, const Context& context, const Config& config,
               model::PoolPolicy& out) {
  const model::SitePolicy& site = config.site;
  read_plan_keys(o, out);
  read_references(o.need("sets"), site.sets, "set", out.sets);
  read_pool_types(o.need("types"), site, out);
  read_ceilings(o.may("ceilings"), out.ceilings);
  read_placement(o, out.placement);
  read_image_or_id(o, out.image, out.image_id);
  read_provider_params(o.may("provider_params"), site, out);
  read_verify(o.may("verify"), out.verify);
  o.may("rotate_keys").boolean(out.rotate_keys);
  read_boot(o, context, config.agent.folder, out);
  o.may("init_command").text(out.init_command, {.bytes_max = kCommandMax});
  o.may("init_failure").word(out.init_failure, kInitFailures);
  o.may("init_delivery").word(out.init_delivery, kInitDeliveries);
  o.may("boot_probe").text(out.boot_probe, {.bytes_max = kCommandMax, .bytes_min = 1});
  read_checks(o.may("broken_checks"), out.broken_checks);
  o.may("gpu_command").text(out.gpu_command, {.bytes_max = kCommandMax});
  read_interruptions(o, out);
  o.may("no_new_privs").boolean(out.no_new_privs);
  o.may("drop_capabilities").boolean(out.drop_capabilities);
  check_readiness(o, out);
  check_pushed(o, out);
  check_login(o.may("leases"), config, out);
}

}  // namespace

void read_plan_keys(json::Object& o, model::PoolPolicy& out) {
  o.need("name").name(out.name);
  read_sizes(o, out.sizes);
  read_timers(o, out);
  o.may("price_factor_max").number(out.price_factor_max, 1, 1000);
  o.may("price_cap_per_hour").millionths(out.price_cap_per_hour.value, 0, kPriceMax);
  o.may("attempts_parallel_max").integer(out.attempts_parallel_max, 0, 100'000);
  o.may("uses_max").integer(out.uses_max, 0, 1'000'000);
  o.may("readiness").word(out.readiness, kReadiness);
  read_leases(o.may("leases"), out.leases);
  read_pushed(o.may("pushed"), out.pushed);
  read_scaling(o.may("scaling"), out.scaling);
}

void read_pools(const json::Field& field, const Context& context, Config& out) {
  std::set<std::string> names;
  auto& pools = out.site.pools;
  field.each(1000, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      read_pool(o, context, out, pools.emplace_back());
      claim_name(o.may("name"), pools.back().name, names);
    });
  });
}

}  // namespace hostler::config
