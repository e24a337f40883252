#include "core/hosts/jump_logins.h"

#include <algorithm>
#include <array>
#include <utility>

namespace hostler::hosts {

using ssh::TunnelRoom;
using Standing = Reach::Standing;

namespace {

constexpr std::ptrdiff_t kTriedAtOnce = 8;
/// Beside those for its tunnels: a server that answers nothing is not asked for ever more sessions.
constexpr std::ptrdiff_t kSharedSpare = 8;
constexpr std::ptrdiff_t kTunnelsOfOne = 50;  ///< Half of what a session can carry.
constexpr std::array kStandings{Standing::kAnswers, Standing::kNew, Standing::kSilent};

}  // namespace

std::ptrdiff_t JumpLogins::count(Use use) const {
  return std::ranges::count(logins_, use, &Login::use);
}

/// Hosts of each standing can be tried at any time, however many others there are: a place is left
/// free for each standing that has none.
bool JumpLogins::may_try(Standing of) const {
  std::array<std::ptrdiff_t, kStandings.size()> busy{};
  for (const Login& login : logins_)
    if (login.use == Use::kTry && login.session->tunnel_room() != TunnelRoom::kFree)
      ++busy.at(static_cast<std::size_t>(login.of));
  std::ptrdiff_t taken = 0;
  for (const Standing standing : kStandings) {
    const auto tries = busy.at(static_cast<std::size_t>(standing));
    taken += standing == of ? tries : std::max<std::ptrdiff_t>(tries, 1);
  }
  return taken < kTriedAtOnce;
}

std::shared_ptr<ssh::Session> JumpLogins::take(Use use, Standing of, Clock::time_point now) {
  if (use == Use::kTry && !may_try(of)) return nullptr;
  const auto found = std::ranges::find_if(logins_, [use](const Login& login) {
    return login.use == use && login.session->tunnel_room() == TunnelRoom::kFree;
  });
  if (found == logins_.end()) return nullptr;
  found->of = of;
  found->asked = now;
  return found->session;
}

bool JumpLogins::may_add(Use use, Standing of, Clock::time_point now) const {
  const bool soon = std::ranges::any_of(logins_, [&](const Login& login) {
    return login.use == use && login.session->tunnel_room() == TunnelRoom::kOpening &&
           now - login.asked < kPrompt;
  });
  if (soon) return false;
  if (use == Use::kTry) return may_try(of) && count(use) < kTriedAtOnce;
  std::ptrdiff_t tunnels = 0;
  for (const Login& login : logins_)
    if (login.use == use) tunnels += login.session->tunnels();
  return count(use) < kSharedSpare + tunnels / kTunnelsOfOne;
}

void JumpLogins::add(Use use, std::shared_ptr<ssh::Session> session) {
  logins_.push_back({std::move(session), use, Standing::kNew, {}});
}

void JumpLogins::drop_ended() {
  std::erase_if(logins_, [](const Login& login) {
    const ssh::Session& session = *login.session;
    return session.is_lost() ||
           (session.tunnel_room() == TunnelRoom::kStuck && session.tunnels() <= 1);
  });
}

void JumpLogins::drop_tries() {
  std::erase_if(logins_, [](const Login& login) { return login.use == Use::kTry; });
}

void JumpLogins::close() {
  for (const Login& login : logins_) login.session->close();
  logins_.clear();
}

}  // namespace hostler::hosts
