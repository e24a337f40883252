#pragma once

#include <sys/types.h>

#include <string>

namespace hostler::machines {

/// Who starts machines. Taken before the first namespace is made.
struct Account {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;  ///< "user" if the uid has no account.

  static Account own();
  bool is_root() const { return uid == 0; }
  std::string home() const { return is_root() ? "/root" : "/home/" + name; }
};

/// Where the keeper and then each machine has a folder in memory of its own.
inline constexpr const char* kScratch = "/mnt";

/// Moves this process, which must have one thread, into mounts of its own; an ordinary user also
/// into a user namespace, and with `bridge` into a network of its own. Mounts an empty folder in
/// memory over kScratch, and account files that know the account. Throws a Failure `impossible`
/// that names the setting which forbids it.
void enter_keeper_namespaces(const Account& account, bool bridge);

/// Forks a child as the first process of new pid, mount, ipc and uts namespaces, and with `network`
/// of a new network: when it ends, the kernel ends all their processes. Throws a Failure.
pid_t fork_into_namespaces(bool network);

/// /etc/passwd and /etc/shadow, in which the account has a usual shell, `home`, and no password.
std::string passwd_of(const Account& account);
std::string shadow_of(const Account& account);

/// Throws a Failure `impossible` if a machine is not possible on this system. Leaves nothing
/// behind.
void check_possible(const Account& account, bool bridge);

}  // namespace hostler::machines
