// Group I: machines in the author's own account, a few at a time, all destroyed. Each test makes
// its own; what one leaves behind, live.clean destroys.
#include <algorithm>
#include <thread>

#include "core/base/units.h"
#include "core/crypto/ssh_keys.h"
#include "sdk/check/groups/begin.h"
#include "sdk/check/groups/live.h"
#include "sdk/check/groups/power.h"
#include "sdk/check/host/ssh_client.h"

namespace hostler::check {
namespace {

using model::CloudState;
using model::ListedInstance;
using plugin_host::DriverSet;

/// Destroys all that has the kit's tag, of this run or of one before: also what a list shows only
/// later, as a create may have been on its way when the kit was ended.
void destroy_leftovers(Context& c, Live& live) {
  constexpr Duration kListsMax = std::chrono::minutes(1);
  std::size_t destroyed = 0;
  for (int quiet = 0; quiet < 2;) {
    std::optional<std::vector<ListedInstance>> left;
    if (!live.wait(kListsMax, [&] { return (left = live.ours()).has_value(); }))
      return c.findings.fail("R33", "list",
                             "has failed for " + format_duration(kListsMax) +
                                 ": machines with the tag hostler-set=driver-check may be left");
    for (const auto& one : *left) live.destroy(one);
    destroyed += left->size();
    quiet = left->empty() ? quiet + 1 : 0;
    if (c.findings.has_failed()) return;
    if (quiet == 1) std::this_thread::sleep_for(live.session.consistency() + kLivePoll);
  }
  if (destroyed > 0) c.findings.note(std::to_string(destroyed) + " machines were destroyed");
  c.findings.note("to clean up by hand: destroy what has the tag hostler-set=driver-check");
}

/// For a driver that neither places a host key nor vouches for one by a call.
void judge_keys(Context& c, const model::SetInfo& info) {
  if (info.user_data || info.has_console)
    c.findings.note(std::string("hostler proves the host key by ") +
                    (info.user_data ? "user data" : "the console") + ", which this test does not");
  else
    c.findings.warn("R40", "verify", "the host key cannot be proved");
}

/// Boots are proved over SSH, with the host key that the driver has placed or vouches for.
std::string proved_key(Live& live, const SshClient& ssh, const SshClient::Target& target,
                       const std::string& id, const std::string& injected) {
  if (!injected.empty()) return injected;
  if (!live.session.info().has_host_key_extension) {
    judge_keys(live.context, live.session.info());
    return {};
  }
  const auto shown = ssh.scan(target);
  const auto key = shown ? crypto::parse_public_key(*shown)
                         : Result<crypto::SshPublicKey>(tl::unexpected(shown.error()));
  if (!key) return {};
  const auto verified =
      live.session.call<Session::Nothing>("verify", [&](DriverSet& set, Duration t, auto done) {
        set.verify_host_key({id, key->type, key->blob}, t, done);
      });
  if (!verified) live.context.findings.fail("R40", "verify", verified.error().message);
  return key->line();
}

void log_in(Live& live, const SshClient& ssh, const ListedInstance& machine,
            const std::string& injected) {
  const auto& site = live.context.settings.site;
  const std::string& user =
      site && !site->set.remote_user.empty() ? site->set.remote_user : machine.remote_user;
  SshClient::Target target{machine.address, user, {}, machine.ssh_port};
  std::string said = "it has no address";
  const auto logged_in = [&] {
    if (target.host_key.empty())
      target.host_key = proved_key(live, ssh, target, machine.id, injected);
    const auto ran = ssh.run(target, "echo driver-check-$((40 + 2))");
    said = ran ? *ran : ran.error().message;
    return ran && said.find("driver-check-42") != std::string::npos;
  };
  if (!live.wait(live.context.options.boot_max, logged_in) && !live.context.stops)
    live.context.findings.fail("machine", "create", "nobody can log in to the machine: " + said);
}

/// What the cloud says of the type: for people to compare with their bill.
void tell_price(Live& live, const ListedInstance& machine) {
  if (machine.price_per_hour)
    live.context.findings.note("it costs " + format_money(machine.price_per_hour->value) + " " +
                               live.session.info().currency + " an hour");
  if (!Relay::get().has(HOSTLER_EXT_QUOTA_GROUP)) return;
  const auto group =
      live.session.call<std::string>("group", [&](DriverSet& set, Duration t, auto done) {
        set.quota_group(live.context.settings.type, t, done);
      });
  if (group) live.context.findings.note("its quota group is '" + *group + "'");
}

/// The whole life of one machine, in the order of a dispatcher.
void live_once(Context& c, Live& live) {
  auto ssh = SshClient::make(c.settings.site);
  if (!ssh) return c.findings.skip(ssh.error().message);
  Order order = live.session.order(live.session.new_key());
  model::CreateRequest& request = order.request;
  if (!ssh->public_key().empty()) request.ssh_public_keys = {ssh->public_key()};
  std::string host_key = order.identity.delivered_public_key;
  if (!c.settings.site && live.session.info().host_key_inject) {
    const auto key = crypto::make_ed25519_key("driver-check");
    request.ssh_host_key_private = key.private_key;
    request.ssh_host_key_public = host_key = key.public_key;
  }
  const auto made = live.make(request);
  if (!made) return;
  std::optional<ListedInstance> seen;
  if (!live.wait(live.session.consistency() + std::chrono::minutes(1),
                 [&] { return (seen = live.find(request.idempotency_key)).has_value(); }))
    return c.findings.fail("R33", "list", "does not show " + made->id);
  if (const auto tagged = live.session.set_tags({.id = seen->id, .set = {{"colour", "red"}}});
      !tagged && !c.settings.cannot_set_tags)
    c.findings.fail("R23", "set_tags", tagged.error().message);
  const bool runs = live.wait(c.options.boot_max, [&] {
    seen = live.find(request.idempotency_key);
    return seen && seen->state == CloudState::kRunning && !seen->address.empty();
  });
  if (seen) tell_price(live, *seen);
  if (runs)
    log_in(live, *ssh, *seen, host_key);
  else if (!c.stops)
    c.findings.fail(
        "R33", "list",
        "shows no RUNNING machine with an address after " + format_duration(c.options.boot_max));
  live.destroy(*made);
}

void live_several(Context& c, Live& live) {
  const int wanted = std::min(live.session.machines_max(), 3);
  std::vector<ListedInstance> made;
  for (int i = 0; i < wanted && !c.stops; ++i)
    if (auto one = live.make(live.session.request())) made.push_back(*std::move(one));
  for (const auto& one : made)
    if (!live.wait(live.session.consistency() + std::chrono::minutes(1),
                   [&] { return live.find(one.idempotency_key).has_value(); }) &&
        !c.stops)
      c.findings.fail("R33", "list", "does not show " + one.id);
  for (const auto& one : made) live.destroy(one);
}

void live_power(Context& c, Live& live) {
  if (!live.session.info().stop) return c.findings.skip("it does not claim HOSTLER_CAP_STOP");
  const auto made = live.make(live.session.request());
  if (!made) return;
  const auto reaches = [&](CloudState state) {
    return live.wait(c.options.boot_max, [&] {
      const auto seen = live.find(made->idempotency_key);
      return seen && seen->state == state;
    });
  };
  if (reaches(CloudState::kRunning)) switch_off_and_on(c, live.session, made->id, reaches);
  live.destroy(*made);
}

}  // namespace

void add_live_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back({"live.leftovers", 'I', 3, kLive, "what an earlier run has left is destroyed",
                &on_open_set<in_account<destroy_leftovers>>});
  to.push_back(
      {"live.life", 'I', 3, kLive,
       "a machine is made, listed, tagged, boots, is proved, runs a command, and is destroyed",
       &on_open_set<in_account<live_once>>});
  to.push_back({"live.several", 'I', 3, kLive, "several machines at once",
                &on_open_set<in_account<live_several>>});
  to.push_back({"live.power", 'I', 3, kLive, "a machine is switched off and on",
                &on_open_set<in_account<live_power>>});
  add_live_fault_tests(to);
  to.push_back({"live.clean", 'I', 3, kLive, "nothing is left of this run",
                &on_open_set<in_account<destroy_leftovers>>});
}

}  // namespace hostler::check
