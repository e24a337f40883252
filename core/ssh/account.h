#pragma once

#include <span>
#include <string>

#include "core/crypto/ssh_keys.h"
#include "core/model/host.h"
#include "core/model/lease_account.h"

/// Commands for the account in which the holder of a lease logs in on the host that is lent. They
/// run on the host as root. Each may be run again if its end is not known. One that fails prints
/// why to standard error. Pure.
namespace hostler::ssh {

/// Makes the account and lets these keys log in, each `restrict,pty`. Status 0: it is there whole.
/// It comes whole at once, so a run that fails before that lets nobody in. Keys of an account that
/// is there stay as they are.
[[nodiscard]] model::HostExec open_account(const model::LeaseAccount& account,
                                           std::span<const crypto::SshPublicKey> keys);

/// Ends all processes of the account, and removes it with its home, keys, crontab, jobs of at,
/// mail, shared memory, semaphores and message queues; of root, only the keys. Status 0: nothing of
/// these is left, or it was never there. Prints how many files of it are left in folders that
/// everybody may write to; at most 1000 are counted.
[[nodiscard]] model::HostExec close_account(const model::LeaseAccount& account);

/// Prints the names of the accounts of leases of this owner that are there, one on a line.
[[nodiscard]] model::HostExec find_accounts(const std::string& owner);

/// Writes the notice file, which the holder can read, then runs the command as the account, with
/// the file's path in HOSTLER_NOTICE_FILE. Its status is that of the command, 124 after the limit.
[[nodiscard]] model::HostExec give_notice(const model::LeaseAccount& account,
                                          const model::AccountNotice& notice);

}  // namespace hostler::ssh
