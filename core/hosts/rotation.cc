#include "core/hosts/rotation.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>

namespace hostler::hosts {

namespace asio = boost::asio;

namespace {

// sshd refuses some connections while it reads its files again.
constexpr int kTriesMax = 5;
constexpr auto kPauseBetweenTries = std::chrono::milliseconds(500);
constexpr auto kPauseBetweenLooks = std::chrono::seconds(10);

}  // namespace

bool KeyRotation::is_due() const {
  return host_.pool.rotate_keys && host_.target.identity.rotation == model::Rotation::kDue;
}

asio::awaitable<void> KeyRotation::begin(std::shared_ptr<ssh::Session> session,
                                         std::string prefix) {
  if (host_.target.identity.next_public_key.empty())
    co_await propose(std::move(session), std::move(prefix));
  else
    co_await activate(std::move(session), std::move(prefix));
}

void KeyRotation::expect(const model::HostIdentity& identity) {
  host_.target.identity.next_public_key = identity.next_public_key;
  host_.target.identity.next_secret = identity.next_secret;
}

asio::awaitable<void> KeyRotation::propose(std::shared_ptr<ssh::Session> session,
                                           std::string prefix) {
  const auto next = co_await prepare(std::move(session), std::move(prefix));
  if (host_.is_stopped()) co_return;
  if (!next) {
    host_.report(model::RotationEnded{false, false, next.error().message});
    co_return;
  }
  if (next->none || next->unmarked) {
    host_.target.identity.rotation = model::Rotation::kNone;
    const std::string unmarked = next->unmarked ? "the machine is not marked by its create: " : "";
    host_.report(model::RotationEnded{false, true, unmarked + next->why});
    co_return;
  }
  host_.report(model::RotationProposed{next->public_key, next->secret});
}

/// Repeated while the init script may still leave its marker.
asio::awaitable<Result<ssh::NextKey>> KeyRotation::prepare(std::shared_ptr<ssh::Session> session,
                                                           std::string prefix) {
  const auto& identity = host_.target.identity;
  const ssh::Marker marker{identity.challenge_secret, identity.delivered_public_key};
  const auto until = std::chrono::steady_clock::now() + host_.settings->patience.marker;
  for (bool is_told = false;;) {
    std::string its_prefix = prefix;
    ssh::Marker its_marker = marker;
    auto next =
        co_await ssh::prepare_rotation(*session, std::move(its_prefix), std::move(its_marker));
    const bool may_come = next && next->unmarked && !marker.secret.empty();
    if (!may_come || host_.is_stopped() || std::chrono::steady_clock::now() >= until)
      co_return next;
    if (!std::exchange(is_told, true))
      host_.report(model::RotationEnded{false, false, "its create has not marked the machine yet"});
    // Ends a wait of an earlier connection, and so its coroutine.
    timer_.expires_after(kPauseBetweenLooks);
    co_await timer_.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<void> KeyRotation::activate(std::shared_ptr<ssh::Session> session,
                                            std::string prefix) {
  const std::string next = host_.target.identity.next_public_key;
  std::string key = next;
  const auto activated =
      co_await ssh::activate_rotation(*session, std::move(prefix), std::move(key));
  if (host_.is_stopped()) co_return;
  if (!activated) {
    host_.report(model::RotationEnded{false, false, activated.error().message});
    co_return;
  }
  std::string expected = next;
  const bool shown = co_await is_shown(std::move(expected));
  host_.report(
      shown ? model::RotationEnded{true, false, "a new connection showed the next key"}
            : model::RotationEnded{false, false, "a new connection did not show the next key yet"});
}

/// A session that is open never shows the new key: only a second connection does.
asio::awaitable<bool> KeyRotation::is_shown(std::string next) {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor);
  for (int tries = 0; tries < kTriesMax && !host_.is_stopped(); ++tries) {
    std::string key_type = "ssh-ed25519";
    const auto second = co_await host_.connect(std::move(key_type));
    if (second && proof_.accept_rotated((*second)->host_key().line(), next)) co_return true;
    timer.expires_after(kPauseBetweenTries);
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return false;
}

}  // namespace hostler::hosts
