#include "core/api/access.h"

#include <pwd.h>
#include <unistd.h>

#include <array>

#include "core/crypto/hash.h"

namespace hostler::api {

const char* to_string(Role role) {
  switch (role) {
    case Role::kRead:
      return "read";
    case Role::kSubmit:
      return "submit";
    case Role::kAdmin:
      return "admin";
  }
  return "?";
}

Result<Role> parse_role(std::string_view text) {
  for (const Role role : {Role::kRead, Role::kSubmit, Role::kAdmin})
    if (text == to_string(role)) return role;
  return fail(Errc::kInvalidArgument,
              "'" + std::string(text) + "' is no role (read, submit, admin)");
}

bool is_admin(unsigned uid) { return uid == 0 || uid == geteuid(); }

Principal Access::by_user(unsigned uid) const {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  const bool known =
      getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
  const std::string name = known ? entry.pw_name : std::to_string(uid);
  return {"user " + name, is_admin(uid) ? Role::kAdmin : Role::kSubmit};
}

void Access::set_tokens(std::vector<Token> tokens) {
  auto fresh = std::make_shared<const std::vector<Token>>(std::move(tokens));
  const MutexLock lock(mutex_);
  tokens_ = std::move(fresh);
}

Result<Principal> Access::by_header(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization.starts_with(kScheme))
    return fail(
        Errc::kForbidden,
        "a token is needed here: Authorization: Bearer TOKEN, or hostler --token-file FILE");
  const std::string digest = crypto::sha256_hex(authorization.substr(kScheme.size()));
  std::shared_ptr<const std::vector<Token>> tokens;
  {
    const MutexLock lock(mutex_);
    tokens = tokens_;
  }
  const Token* match = nullptr;
  for (const Token& token : *tokens) {
    unsigned differences = token.sha256.size() == digest.size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(digest.size(), token.sha256.size()); ++i)
      differences |= static_cast<unsigned>(digest[i] ^ token.sha256[i]);
    if (differences == 0) match = &token;
  }
  if (match == nullptr) return fail(Errc::kForbidden, "the token is not known here");
  return Principal{"token " + match->name, match->role};
}

}  // namespace hostler::api
