#include "core/dispatch/handlers/lease_accounts.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "core/base/assert.h"
#include "core/base/units.h"

namespace hostler::dispatch {

using model::Login;

namespace {

constexpr Duration kNoticeCommandMax = std::chrono::minutes(10);
/// A holder may renew as often as it likes, and each notice is a command and two records.
constexpr Duration kTellsApart = std::chrono::seconds(10);

/// The owner is left out: AccountCommands fills it in.
model::LeaseAccount account_of(const work::Lease& lease) {
  return {lease.id(), "", lease.terms.login == Login::kRoot};
}

/// A reload may have removed the key: hosts that were lent before have the defaults.
model::LeasePolicy lending_of(const model::PoolPolicy& pool) {
  return pool.leases.value_or(model::LeasePolicy{});
}

}  // namespace

/// A lease whose keys were accepted gets an account even if its pool lends without a login now:
/// otherwise its holder could not get in.
Login LeaseAccounts::login_of(const work::Lease& lease, const model::PoolPolicy& pool) {
  if (lease.terms.ssh_keys.empty() || !model::needs_link(pool.readiness)) return Login::kNone;
  const Login login = lending_of(pool).login;
  return login == Login::kNone ? Login::kUser : login;
}

bool LeaseAccounts::is_suspended(const Host& host) const {
  const Set& set = sets_.at(host.instance.set);
  return set.first_list.rows_end || set.is_stopped();
}

Duration LeaseAccounts::grace_of(const Host& host) const {
  return lending_of(policy_.pools[host.instance.pool]).grace;
}

void LeaseAccounts::open(const Host& host, const work::Lease& lease, Now now) {
  HOSTLER_ASSERT(lease.has_account(), "that it is opened is durable first");
  const auto& pool = policy_.pools[host.instance.pool];
  if (!host.instance.link.is_connected() || fleet::may_change_key(host.instance, pool) ||
      commands_.runs(host.id(), lease.id(), LeaseStep::kOpen))
    return;
  commands_.run(host.id(), lease.id(), LeaseStep::kOpen,
                make_.open(account_of(lease), lease.terms.ssh_keys), now);
}

/// The command also removes the keys of root, by the name of the lease: is_root does not matter.
bool LeaseAccounts::close(const Host& host, model::WorkId lease, Now now) {
  if (!host.instance.link.is_connected()) return false;
  if (!commands_.runs(host.id(), lease, LeaseStep::kOpen))
    commands_.run(host.id(), lease, LeaseStep::kClose, make_.close({lease, "", false}), now);
  return true;
}

void LeaseAccounts::close_left(model::InstanceId on, model::WorkId lease, Now now) {
  const Host* host = hosts_.find(on);
  if (host != nullptr && !is_suspended(*host)) (void)close(*host, lease, now);
}

Duration LeaseAccounts::notice_before(const Host& host) const {
  return lending_of(policy_.pools[host.instance.pool]).notice_before;
}

/// The end of the term or the interruption, whichever comes first.
LeaseAccounts::End LeaseAccounts::end_of(const Host& host, const work::Lease& lease,
                                         Now now) const {
  const End of_term{lease.terms.until, false, lease.due - now.mono > notice_before(host)};
  const auto& instance = host.instance;
  const auto& notice = instance.record.interruption;
  if (!notice || !instance.notices.is_cordoned() || !instance.notices.may_tell()) return of_term;
  const Wall at = notice->at.us != 0 ? notice->at : notice->noticed + model::kNoticeHolds;
  return at < of_term.at ? End{at, true, false} : of_term;
}

void LeaseAccounts::tell(const Host& host, work::Lease& lease, Now now) {
  leases_.set_notice(lease, fleet::kNever);
  const bool is_granted = lease.state() == model::WorkState::kRunning;
  if (!is_granted || !lease.has_account() || lease.telling.under_way) return;
  const End end = end_of(host, lease, now);
  if (end.at == lease.terms.told) return;
  if (end.is_far) leases_.set_notice(lease, lease.due - notice_before(host));
  // The holder was told of another end, of a term or by an interruption, that holds no more.
  const bool is_over = lease.terms.told.us != 0 && host.instance.notices.may_tell();
  if (end.is_far && !is_over) return;
  if (is_suspended(host)) return leases_.set_notice(lease, now.mono + kSuspended);
  if (!host.instance.link.is_connected()) return;
  if (!end.is_interruption && now.mono < lease.telling.again)
    return leases_.set_notice(lease, lease.telling.again);
  lease.telling.again = now.mono + kTellsApart;
  lease.telling.under_way = end.is_far ? Wall{} : end.at;
  send_notice(host, lease, end, now);
}

void LeaseAccounts::tell(const Host& host, Now now) {
  for (const auto& claim : host.instance.occupancy.claims())
    if (work::Lease* lease = leases_.find(claim.work)) tell(host, *lease, now);
}

void LeaseAccounts::send_notice(const Host& host, const work::Lease& lease, const End& end,
                                Now now) {
  const std::string id = lease.id().text(), at = format_wall(end.at);
  model::AccountNotice notice;
  notice.text = end.is_interruption
                    ? "The cloud takes this host back, at " + at + " or sooner. Lease " + id +
                          " ends then, and nothing on this host is kept.\n"
                    : "Lease " + id + " ends at " + at + ". " + format_duration(grace_of(host)) +
                          " later this host is destroyed, with all that is on it. To keep it for "
                          "longer: hostler renew " +
                          id + " --for TIME\n";
  if (end.is_far) notice.text = "It does not end at the time that was said. " + notice.text;
  notice.command = lease.terms.notice_command;
  const Duration left = end.at - now.wall;
  notice.limit = std::clamp<Duration>(left, std::chrono::seconds(1), kNoticeCommandMax);
  commands_.run(host.id(), lease.id(), LeaseStep::kTell, make_.notify(account_of(lease), notice),
                now);
}

void LeaseAccounts::told(work::Lease& lease, CommandResult result, Now now) {
  const auto end = std::exchange(lease.telling.under_way, {});
  if (result == CommandResult::kUnknown || !end) return;
  lease.terms.told = *end;
  recorder_.change(model::LeaseChanged{lease.terms});
  if (const Host* host = hosts_.find(lease.record.instance)) tell(*host, lease, now);
}

}  // namespace hostler::dispatch
