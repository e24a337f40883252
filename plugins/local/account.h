#pragma once

#include <sys/types.h>

#include <string>

namespace hostler::local {

/// The account that this process runs as, and that people and hostler log in to.
struct Account {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::string shell;
  bool locked = false;  ///< sshd refuses it by what is in /etc/shadow.

  /// Throws driver::Error(HOSTLER_E_INVALID) where this user has no entry.
  static Account own();

  bool can_log_in() const;
  /// /etc/passwd with this account's home and shell replaced: an instance has a home of its own,
  /// and no start-up files of a person run in its sessions.
  std::string passwd(const std::string& home) const;
  /// An /etc/shadow in which this account is not locked, and nobody else is.
  std::string shadow() const;
};

}  // namespace hostler::local
