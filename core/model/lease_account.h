#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/model/ids.h"

namespace hostler::model {

/// The user as which the holder of a lease logs in on its host.
enum class Login : std::uint8_t {
  kNone,  ///< hostler lets nobody in.
  kUser,  ///< The account that hostler makes for the lease.
  kRoot,
};

/// The account in which the holder of a lease logs in on the host that is lent.
struct LeaseAccount {
  WorkId lease;
  std::string owner;     ///< The store's id: the account of another site's lease is left alone.
  bool is_root = false;  ///< The pool lends root: there is no other account.

  /// "hostler-l3": its name on the host, also that of root's keys for this lease.
  [[nodiscard]] std::string name() const {
    HOSTLER_ASSERT(lease.kind == WorkKind::kLease, "only leases have accounts");
    return std::string(kBegin) + std::to_string(lease.value);
  }
  /// The reverse of name(): the lease that has an account of this name.
  [[nodiscard]] static std::optional<WorkId> lease_of(std::string_view name) {
    if (!name.starts_with(kBegin)) return std::nullopt;
    return WorkId::parse("l-" + std::string(name.substr(kBegin.size())));
  }
  /// The user that the holder logs in as.
  [[nodiscard]] std::string user() const { return is_root ? "root" : name(); }
  /// On the host, where nothing sets HOSTLER_AGENT_DIR: see core/ssh/scripts.h.
  [[nodiscard]] std::string notice_file() const {
    return "/var/lib/hostler-agent/accounts/" + name() + ".notice";
  }

  static constexpr std::string_view kBegin = "hostler-l";  ///< Of each name.
};

/// Tells whoever has the account when the lease ends.
struct AccountNotice {
  std::string text;     ///< The new content of the notice file.
  std::string command;  ///< sh; empty: none. May be a secret.
  Duration limit{};     ///< The command is ended after this time.
};

}  // namespace hostler::model
