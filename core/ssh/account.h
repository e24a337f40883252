#pragma once

#include <span>
#include <string>

#include "core/base/time.h"
#include "core/crypto/ssh_keys.h"
#include "core/model/host.h"
#include "core/model/ids.h"

/// The account by which the holder of a lease logs in on the host that is lent: commands for the
/// host, which run as root. Each may be run again if its end is not known. One that fails prints
/// why to standard error. Pure.
namespace hostler::ssh {

struct LeaseAccount {
  model::WorkId lease;
  std::string owner;     ///< The store's id: the account of another site's lease is left alone.
  bool is_root = false;  ///< The pool lends root: there is no other account.

  /// The user that the holder logs in as: "hostler-l3", or "root".
  [[nodiscard]] std::string user() const;
};

/// Makes the account and lets these keys log in, each `restrict,pty`. When it ends with status 0,
/// the account is there whole; otherwise nobody can log in by it. Keys of an account that is there
/// stay as they are.
[[nodiscard]] model::HostExec open_account(const LeaseAccount& account,
                                           std::span<const crypto::SshPublicKey> keys);

/// Ends all processes of the account, and removes it with its home, keys, crontab, jobs of at and
/// mail; of root, only the keys. Status 0: nothing of these is left, or it was never there. Prints
/// how many files of it are left in folders that everybody may write to; at most 1000 are counted.
[[nodiscard]] model::HostExec close_account(const LeaseAccount& account);

struct AccountNotice {
  std::string text;     ///< What the notice file says from now on.
  std::string command;  ///< sh; empty: none. May be a secret.
  Duration limit{};     ///< The command may run for so long.
};
/// Writes the notice file, which the holder can read, then runs the command as the account, with
/// the file's path in HOSTLER_NOTICE_FILE. Its status is that of the command, 124 after the limit.
[[nodiscard]] model::HostExec give_notice(const LeaseAccount& account, const AccountNotice& notice);

}  // namespace hostler::ssh
