#include "core/ssh/account.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/ssh/scripts.h"

namespace hostler::ssh {
namespace {

using namespace std::chrono_literals;
using scripts::end_of;
using scripts::fill;

std::string functions(const model::LeaseAccount& account) {
  HOSTLER_ASSERT(is_name(account.owner), "the id of a store needs no quoting");
  return fill(
      scripts::kAccountFunctions,
      {{"USER", account.name()}, {"LEASE", account.lease.text()}, {"OWNER", account.owner}});
}

model::HostExec as_root(std::string purpose, std::string script, Duration limit) {
  model::HostExec out;
  out.purpose = std::move(purpose);
  out.arguments = {"sh", "-s"};
  out.input = std::move(script);
  out.as_root = true;
  out.limit = limit;
  return out;
}

}  // namespace

model::HostExec open_account(const model::LeaseAccount& account,
                             std::span<const crypto::SshPublicKey> keys) {
  const std::string mark = account.name();
  std::string lines;
  for (const crypto::SshPublicKey& key : keys)
    lines += "restrict,pty " + key.line() + " " + mark + "\n";
  const std::string script =
      account.is_root
          ? fill(scripts::kOpenRoot, {{"FUNCTIONS", functions(account)}, {"KEYS", lines}})
          : fill(scripts::kOpenAccount, {{"FUNCTIONS", functions(account)},
                                         {"LEASE", account.lease.text()},
                                         {"KEYS", lines}});
  return as_root("the account of " + account.lease.text() + " is opened", script, 30s);
}

model::HostExec close_account(const model::LeaseAccount& account) {
  return as_root("the account of " + account.lease.text() + " is closed",
                 fill(scripts::kCloseAccount, {{"FUNCTIONS", functions(account)}}), 2min);
}

model::HostExec find_accounts(const std::string& owner) {
  HOSTLER_ASSERT(is_name(owner), "the id of a store needs no quoting");
  return as_root("accounts of leases are looked for",
                 fill(scripts::kFindAccounts, {{"OWNER", owner}}), 30s);
}

model::HostExec give_notice(const model::LeaseAccount& account,
                            const model::AccountNotice& notice) {
  const auto limit = std::max(std::chrono::ceil<std::chrono::seconds>(notice.limit), 1s);
  const std::string script =
      fill(scripts::kAccountNotice, {{"FUNCTIONS", functions(account)},
                                     {"LOGIN", account.user()},
                                     {"TEXT", notice.text},
                                     {"TEXT_END", end_of(notice.text)},
                                     {"COMMAND", notice.command},
                                     {"COMMAND_END", end_of(notice.command)},
                                     {"SECONDS", std::to_string(limit.count())}});
  return as_root("the notice of " + account.lease.text() + " is given", script, limit + 15s);
}

}  // namespace hostler::ssh
