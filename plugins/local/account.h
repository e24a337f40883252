#pragma once

#include <sys/types.h>

#include <string>

namespace hostler::local {

/// The account of this process. Logins to instances use the same account.
struct Account {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::string shell;
  bool locked = false;  ///< sshd refuses logins because of the entry in /etc/shadow.

  /// Throws driver::Error(HOSTLER_E_INVALID) if this user has no entry in /etc/passwd.
  static Account own();

  bool can_log_in() const;
  /// The text of /etc/passwd with another home and shell for this account. So an instance has its
  /// own home, and sessions do not run the start-up files of a person.
  std::string passwd(const std::string& home) const;
  /// The text of an /etc/shadow that has only this account, not locked.
  std::string shadow() const;
};

}  // namespace hostler::local
