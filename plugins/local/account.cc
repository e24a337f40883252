#include "account.h"

#include <pwd.h>
#include <shadow.h>
#include <unistd.h>

#include <hostler/driver.hpp>
#include <vector>

#include "folder/files.h"

namespace hostler::local {
namespace {

bool is_locked_account(const std::string& name) {
  std::vector<char> buffer(std::size_t{16} * 1024);
  struct ::spwd entry {
  }, *found = nullptr;
  ::getspnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr && found->sp_pwdp != nullptr && found->sp_pwdp[0] == '!';
}

}  // namespace

Account Account::own() {
  std::vector<char> buffer(std::size_t{16} * 1024);
  struct ::passwd entry {
  }, *found = nullptr;
  ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr)
    throw driver::Error(HOSTLER_E_INVALID, "user id " + std::to_string(::geteuid()) +
                                               " has no account: ssh-keygen and sshd need one; "
                                               "run hostler as a user of /etc/passwd");
  Account account;
  account.name = found->pw_name;
  account.uid = found->pw_uid;
  account.gid = found->pw_gid;
  account.shell = found->pw_shell;
  account.locked = is_locked_account(account.name);
  return account;
}

bool Account::can_log_in() const {
  const std::string program = shell.substr(shell.rfind('/') + 1);
  return !locked && program != "nologin" && program != "false" &&
         (shell.empty() || ::access(shell.c_str(), X_OK) == 0);
}

std::string Account::passwd(const std::string& home) const {
  std::string rest = read_file("/etc/passwd").value_or("");
  std::string text =
      name + ":x:" + std::to_string(uid) + ":" + std::to_string(gid) + "::" + home + ":/bin/sh\n";
  while (!rest.empty()) {
    const auto newline = rest.find('\n');
    const std::string line = rest.substr(0, newline);
    rest.erase(0, newline == std::string::npos ? rest.size() : newline + 1);
    if (line.compare(0, name.size() + 1, name + ":") != 0) text += line + "\n";
  }
  return text;
}

std::string Account::shadow() const { return name + ":*:19000:0:99999:7:::\n"; }

}  // namespace hostler::local
