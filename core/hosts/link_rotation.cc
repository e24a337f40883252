#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "core/hosts/link.h"
#include "core/log/log.h"
#include "core/ssh/rotation.h"
#include "core/ssh/verify.h"

/// After the first proof the host gets a key and secret that no user data has seen: prepared on
/// the host, committed by the loop, then activated and shown.
namespace hostler::hosts {

namespace asio = boost::asio;

void Link::rotate(ssh::Session&) {
  const auto& identity = target_.identity;
  if (!pool_.rotate_keys || identity.rotation != model::Rotation::kDue) return;
  if (!identity.next_public_key.empty()) {
    // An earlier connection, or an earlier daemon, did not get to see it active.
    auto again = carry_out_rotation(session_, identity);
    asio::co_spawn(io_, std::move(again), asio::detached);
  } else {
    auto proposing = propose_rotation(session_);
    asio::co_spawn(io_, std::move(proposing), asio::detached);
  }
}

asio::awaitable<void> Link::propose_rotation(std::shared_ptr<ssh::Session> session) {
  const auto self = shared_from_this();
  std::string prefix = prefix_;
  const auto next = co_await ssh::prepare_rotation(*session, std::move(prefix));
  if (stopped_) co_return;
  if (!next) {
    // Tried again on the next connection.
    log::info("host " + target_.instance.text(), "key rotation: " + next.error().message);
    co_return;
  }
  if (next->none) {
    target_.identity.rotation = model::Rotation::kNone;
    post(model::RotationEnded{false, true, next->why});
    co_return;
  }
  post(model::RotationProposed{next->public_key, next->secret});
}

asio::awaitable<void> Link::carry_out_rotation(std::shared_ptr<ssh::Session> session,
                                               model::HostIdentity identity) {
  const auto self = shared_from_this();
  std::string prefix = prefix_;
  std::string key = identity.next_public_key;
  const auto done = co_await ssh::activate_rotation(*session, std::move(prefix), std::move(key));
  if (stopped_) co_return;
  if (!done) {
    post(model::RotationEnded{false, false, done.error().message});
    co_return;
  }
  // An open session never shows the new key: a second connection does. What is refused in the
  // first moments is the listener reading its files anew.
  for (int tries = 0; tries < 5 && !stopped_; ++tries) {
    ssh::ConnectRequest request;
    request.host = target_.address;
    request.port = target_.port;
    request.key_type = "ssh-ed25519";
    const auto second = co_await ssh::Session::connect(std::move(request));
    if (second && (*second)->host_key().line() == identity.next_public_key) {
      target_.identity.public_key = identity.next_public_key;
      target_.identity.challenge_secret = identity.next_secret;
      target_.identity.next_public_key.clear();
      target_.identity.next_secret.clear();
      target_.identity.rotation = model::Rotation::kDone;
      post(model::RotationEnded{true, false, "a new connection showed the next key"});
      co_return;
    }
    asio::steady_timer wait(io_);
    wait.expires_after(std::chrono::milliseconds(500));
    co_await wait.async_wait(asio::use_awaitable);
  }
  post(model::RotationEnded{false, false, "a new connection did not show the next key yet"});
}

}  // namespace hostler::hosts
