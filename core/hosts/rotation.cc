#include "core/hosts/rotation.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>

#include "core/log/log.h"
#include "core/ssh/rotation.h"

namespace hostler::hosts {

namespace asio = boost::asio;

namespace {

// sshd refuses some connections while it reads its files again.
constexpr int kTriesMax = 5;
constexpr auto kPauseBetweenTries = std::chrono::milliseconds(500);

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
  const auto next = co_await ssh::prepare_rotation(*session, std::move(prefix));
  if (host_.is_stopped()) co_return;
  if (!next) {
    log::info(host_.name(),
              "key rotation: " + next.error().message + "; the next connection tries again");
    co_return;
  }
  if (next->none) {
    host_.target.identity.rotation = model::Rotation::kNone;
    host_.report(model::RotationEnded{false, true, next->why});
    co_return;
  }
  host_.report(model::RotationProposed{next->public_key, next->secret});
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
    ssh::ConnectRequest request;
    request.host = host_.target.address;
    request.port = host_.target.port;
    request.key_type = "ssh-ed25519";
    const auto second = co_await ssh::Session::connect(std::move(request));
    if (second && proof_.accept_rotated((*second)->host_key().line(), next)) co_return true;
    timer.expires_after(kPauseBetweenTries);
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return false;
}

}  // namespace hostler::hosts
