#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/service.h"
#include "core/base/mutex.h"

/// Who may speak (docs/threats.md, "Access to the API, way by way").
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
  /// From the next request on.
  void set_tokens(std::vector<Token> tokens);

  /// By the peer credentials of a unix socket: root and the daemon's own user are admin, whoever
  /// else may open the socket submits.
  [[nodiscard]] Principal by_user(unsigned uid) const;
  /// By the Authorization header of a TCP request, "Bearer TOKEN". Takes the same time whichever
  /// token is wrong.
  [[nodiscard]] Result<Principal> by_header(std::string_view authorization) const;

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const std::vector<Token>> tokens_ HOSTLER_GUARDED_BY(mutex_);
};

const char* to_string(Role role);
Result<Role> parse_role(std::string_view text);

}  // namespace hostler::api
