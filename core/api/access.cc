#include "core/api/access.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/text.h"
#include "core/crypto/hash.h"
#include "core/model/ids.h"

namespace hostler::api {

const char* to_string(Role role) {
  switch (role) {
    case Role::kRead:
      return "read";
    case Role::kSubmit:
      return "submit";
    case Role::kAdmin:
      return "admin";
    case Role::kScaler:
      return "scaler";
  }
  return "?";
}

Result<Role> parse_role(std::string_view text) {
  for (const Role role : {Role::kRead, Role::kSubmit, Role::kAdmin, Role::kScaler})
    if (text == to_string(role)) return role;
  return fail(Errc::kInvalidArgument,
              "'" + std::string(text) + "' is no role (read, submit, admin, scaler)");
}

Sight sight_of(const Principal& who, const std::string& submitter) {
  if (who.role == Role::kAdmin || who.name == submitter) return Sight::kAll;
  return who.role == Role::kRead ? Sight::kPublic : Sight::kNone;
}

bool is_admin(unsigned uid) { return uid == 0 || uid == geteuid(); }

Principal Access::by_user(unsigned uid) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  // A name that cannot be shown or stored is none: a directory service may have any.
  const bool known =
      getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr &&
      std::string_view(entry.pw_name) == printable(entry.pw_name, model::kForeignNameMax);
  const std::string name = known ? entry.pw_name : std::to_string(uid);
  return {.name = "user " + name,
          .role = is_admin(uid) ? Role::kAdmin : Role::kSubmit,
          .on_socket = true};
}

void Access::set_tokens(std::vector<Token> tokens) {
  auto fresh = std::make_shared<const std::vector<Token>>(std::move(tokens));
  std::list<std::weak_ptr<std::function<void()>>> watchers;
  {
    const MutexLock lock(mutex_);
    tokens_ = std::move(fresh);
    std::erase_if(watchers_, [](const auto& one) { return one.expired(); });
    watchers = watchers_;
  }
  for (const auto& one : watchers)
    if (const auto wake = one.lock()) (*wake)();
}

std::shared_ptr<void> Access::on_change(std::function<void()> wake) const {
  auto kept = std::make_shared<std::function<void()>>(std::move(wake));
  const MutexLock lock(mutex_);
  // Streams that have ended are dropped a few at a time, from the front: the oldest.
  for (int n = 0; n < 2 && !watchers_.empty(); ++n) {
    if (!watchers_.front().expired()) watchers_.push_back(watchers_.front());
    watchers_.pop_front();
  }
  watchers_.push_back(kept);
  return kept;
}

Result<Principal> Access::by_header(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization.starts_with(kScheme))
    return fail(
        Errc::kForbidden,
        "a token is needed here: Authorization: Bearer TOKEN, or hostler --token-file FILE");
  return by_digest(crypto::sha256_hex(authorization.substr(kScheme.size())));
}

Standing Access::standing(std::string_view authorization, const Principal& who) const {
  constexpr std::string_view kScheme = "Bearer ";
  const auto token = authorization.substr(std::min(kScheme.size(), authorization.size()));
  const auto check = [this, digest = crypto::sha256_hex(token), who]() -> Result<void> {
    const auto now = by_digest(digest);
    if (now && now->name == who.name && now->role == who.role) return {};
    return fail(Errc::kForbidden, "the stream ends: " + who.name +
                                      (now ? " has another role or name now"
                                           : " is not a token of this site any more"));
  };
  return {check, [this](std::function<void()> wake) { return on_change(std::move(wake)); }};
}

Result<Principal> Access::by_digest(const std::string& digest) const {
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
  return Principal{match->principal(), match->role, match->pools};
}

}  // namespace hostler::api
