#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/service.h"
#include "core/base/mutex.h"

/// Which clients may use the API (docs/threats.md, "Access to the API, way by way").
namespace hostler::api {

struct Token {
  std::string name;  ///< `[a-z0-9_-]{1,63}`; the principal is "token NAME".
  Role role = Role::kRead;
  std::string sha256;  ///< Of the token, hex; the token itself is stored nowhere.
};

/// Any thread.
class Access {
 public:
  explicit Access(std::vector<Token> tokens) { set_tokens(std::move(tokens)); }
  /// Valid from the next request on.
  void set_tokens(std::vector<Token> tokens);

  /// The principal by the peer credentials of a unix socket: root and the daemon's own user have
  /// the role admin, all others who can open the socket have submit.
  [[nodiscard]] Principal by_user(unsigned uid) const;
  /// The principal by the Authorization header of a TCP request, "Bearer TOKEN". kForbidden if no
  /// such token is configured; takes the same time for all wrong tokens.
  [[nodiscard]] Result<Principal> by_header(std::string_view authorization) const;

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const std::vector<Token>> tokens_ HOSTLER_GUARDED_BY(mutex_);
};

/// Whether this user of the machine is an admin: root and the daemon's own user are.
bool is_admin(unsigned uid);
const char* to_string(Role role);
Result<Role> parse_role(std::string_view text);

}  // namespace hostler::api
