#include "core/daemon/account_commands.h"

#include <vector>

#include "core/crypto/login_keys.h"
#include "core/ssh/account.h"

namespace hostler::daemon {

using NoKeys = std::vector<crypto::SshPublicKey>;

dispatch::AccountCommands make_account_commands(const std::string& owner) {
  const auto owned = [owner](model::LeaseAccount account) {
    account.owner = owner;
    return account;
  };
  return {
      .open =
          [owned](const model::LeaseAccount& account, const std::vector<std::string>& lines) {
            // They were read when the lease was accepted, perhaps by an older version: keys that
            // this one refuses open nothing.
            const auto keys = crypto::parse_login_keys(lines);
            return ssh::open_account(owned(account), keys.value_or(NoKeys{}));
          },
      .close =
          [owned](const model::LeaseAccount& account) {
            return ssh::close_account(owned(account));
          },
      .notify =
          [owned](const model::LeaseAccount& account, const model::AccountNotice& notice) {
            return ssh::give_notice(owned(account), notice);
          },
      .find = [owner] { return ssh::find_accounts(owner); },
  };
}

}  // namespace hostler::daemon
