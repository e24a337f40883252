#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/service.h"
#include "core/api/work_codec.h"
#include "core/base/mutex.h"

/// Which clients may use the API (docs/threats.md, "Access to the API, way by way").
namespace hostler::api {

struct Token {
  std::string name;  ///< `[a-z0-9_-]{1,63}`; the principal is "token NAME".
  Role role = Role::kRead;
  std::string sha256;                   ///< Of the token, hex; the token itself is stored nowhere.
  std::vector<std::string> pools = {};  ///< Of the role `scaler`: for which it may push.
  [[nodiscard]] std::string principal() const { return "token " + name; }
};

/// Whether a client may still receive an answer that began before. Valid as long as the Access.
struct Standing {
  /// kForbidden: its token is not valid any more, or has another name or role. Empty: it always
  /// may, as on a unix socket.
  std::function<Result<void>()> check = {};
  /// Calls `wake` after each change of the tokens, until the returned handle is destroyed. `wake`
  /// is called on any thread and must return at once.
  std::function<std::shared_ptr<void>(std::function<void()> wake)> on_change = {};
};

/// Any thread.
class Access {
 public:
  explicit Access(std::vector<Token> tokens) { set_tokens(std::move(tokens)); }
  /// Valid from the next request on.
  void set_tokens(std::vector<Token> tokens);

  /// The principal by the peer credentials of a unix socket: root and the daemon's own user have
  /// the role admin, all others who can open the socket have submit.
  [[nodiscard]] static Principal by_user(unsigned uid);
  /// The principal by the Authorization header of a TCP request, "Bearer TOKEN". kForbidden if no
  /// such token is configured; takes the same time for all wrong tokens.
  [[nodiscard]] Result<Principal> by_header(std::string_view authorization) const;
  /// What a long answer asks while it lasts, for a client that by_header() has accepted.
  [[nodiscard]] Standing standing(std::string_view authorization, const Principal& who) const;

 private:
  [[nodiscard]] Result<Principal> by_digest(const std::string& sha256) const;
  std::shared_ptr<void> on_change(std::function<void()> wake) const;

  mutable Mutex mutex_;
  mutable std::list<std::weak_ptr<std::function<void()>>> watchers_ HOSTLER_GUARDED_BY(mutex_);
  std::shared_ptr<const std::vector<Token>> tokens_ HOSTLER_GUARDED_BY(mutex_);
};

/// Whether this user of the machine is an admin: root and the daemon's own user are.
bool is_admin(unsigned uid);
/// What the client sees of a job that `submitter` has submitted, and of records about it. The one
/// rule for all routes: admins see everything, and everybody sees all of its own; the role `read`
/// sees the public part of others' jobs, the role `submit` none of it.
Sight sight_of(const Principal& who, const std::string& submitter);
const char* to_string(Role role);
Result<Role> parse_role(std::string_view text);

}  // namespace hostler::api
