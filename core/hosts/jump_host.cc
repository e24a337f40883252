#include "core/hosts/jump_host.h"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "core/base/units.h"
#include "core/log/log.h"
#include "core/ssh/tunnel.h"
#include "core/ssh/verify.h"

namespace hostler::hosts {

namespace asio = boost::asio;
using ssh::TunnelRoom;

namespace {

constexpr std::ptrdiff_t kTriedMax = 8;  ///< Hosts that are tried at the same time.
constexpr auto kPatience = std::chrono::seconds(30);
/// A server that answers late frees its session without a word.
constexpr auto kLook = std::chrono::seconds(1);
constexpr auto kIdleMax = std::chrono::minutes(1);

}  // namespace

/// A coroutine that waits for a session. It may be destroyed at any moment.
class JumpHost::Turn {
 public:
  explicit Turn(JumpHost& owner) : owner_(owner), timer_(owner.io_) {
    place_ = owner.turns_.insert(owner.turns_.end(), this);
  }
  ~Turn() { owner_.turns_.erase(place_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  asio::awaitable<void> wait(Clock::time_point until) {
    timer_.expires_at(std::min(until, Clock::now() + kLook));
    boost::system::error_code woken;
    auto token = asio::redirect_error(asio::use_awaitable, woken);
    co_await timer_.async_wait(std::move(token));
  }
  void wake() { timer_.cancel(); }

 private:
  JumpHost& owner_;
  asio::steady_timer timer_;
  std::list<Turn*>::iterator place_;
};

JumpHost::JumpHost(asio::io_context& io, HostSettings::Proxy proxy, std::uint64_t seed)
    : io_(io),
      proxy_(std::move(proxy)),
      name_("jump host " + proxy_.name),
      random_(seed),
      idle_(io) {}

void JumpHost::stop() {
  stopped_ = true;
  for (const Lane& lane : lanes_) lane.session->close();
  lanes_.clear();
  idle_.cancel();
  wake();
}

void JumpHost::end_tries_later() {
  idle_.expires_after(kIdleMax);
  idle_.async_wait([weak = weak_from_this()](const auto& cancelled) {
    const auto self = weak.lock();
    if (cancelled || !self) return;
    std::erase_if(self->lanes_, [](const Lane& lane) { return lane.use == Use::kTry; });
  });
}

void JumpHost::wake() {
  for (Turn* const turn : turns_) turn->wake();
}

asio::awaitable<Result<std::unique_ptr<ssh::Session>>> JumpHost::connect(
    ssh::ConnectRequest request, bool& answers) {
  const auto until = Clock::now() + kPatience;
  const ssh::TunnelRequest host{.host = request.host, .port = request.port};
  request.via = name_;
  if (!answers) {
    ssh::TunnelRequest tried = host;
    const auto answered = co_await open(std::move(tried), Use::kTry, until);
    end_tries_later();
    if (!answered) co_return tl::unexpected(answered.error());
  }
  ssh::TunnelRequest wanted = host;
  auto tunnel = co_await open(std::move(wanted), Use::kShared, until);
  answers = tunnel.has_value();
  if (!tunnel) co_return tl::unexpected(std::move(tunnel).error());
  auto session = co_await ssh::Session::connect_through(std::move(*tunnel), std::move(request));
  co_return session;
}

asio::awaitable<JumpHost::Opened> JumpHost::open(ssh::TunnelRequest request, Use use,
                                                 Clock::time_point until) {
  const auto session = co_await lane(use, until);
  if (!session) co_return tl::unexpected(Error(session.error()).with_context("through " + name_));
  auto opened = co_await (*session)->open_tunnel(std::move(request));
  wake();
  if (!opened) co_return tl::unexpected(std::move(opened).error().with_context("through " + name_));
  co_return opened;
}

asio::awaitable<Result<std::shared_ptr<ssh::Session>>> JumpHost::lane(Use use,
                                                                      Clock::time_point until) {
  Turn turn(*this);
  for (;;) {
    if (stopped_) co_return fail(Errc::kUnavailable, "hostlerd ends");
    drop_ended();
    if (auto free = find_free(use)) co_return free;
    if (!logging_in_ && may_add(use)) {
      const auto added = co_await add(use);
      if (!added) co_return tl::unexpected(added.error());
      continue;
    }
    if (Clock::now() >= until)
      co_return fail(Errc::kUnavailable, "it was busy with other hosts for " +
                                             format_duration(kPatience) +
                                             ", which do not answer or wait too");
    co_await turn.wait(until);
  }
}

/// A session without connections that waits for an answer is of no use.
void JumpHost::drop_ended() {
  std::erase_if(lanes_, [](const Lane& lane) {
    const ssh::Session& session = *lane.session;
    return session.is_lost() ||
           (session.tunnel_room() == TunnelRoom::kStuck && session.tunnels() <= 1);
  });
}

std::shared_ptr<ssh::Session> JumpHost::find_free(Use use) const {
  const auto found = std::ranges::find_if(lanes_, [use](const Lane& lane) {
    return lane.use == use && lane.session->tunnel_room() == TunnelRoom::kFree;
  });
  return found == lanes_.end() ? nullptr : found->session;
}

bool JumpHost::may_add(Use use) const {
  if (use == Use::kTry) return std::ranges::count(lanes_, Use::kTry, &Lane::use) < kTriedMax;
  return std::ranges::none_of(lanes_, [](const Lane& lane) {
    return lane.use == Use::kShared && lane.session->tunnel_room() == TunnelRoom::kOpening;
  });
}

/// One login at a time: sshd refuses some of many (MaxStartups). After a failure there is a pause,
/// in which all who need one get the same error.
asio::awaitable<Result<void>> JumpHost::add(Use use) {
  if (Clock::now() < next_login_) co_return fail(Errc::kUnavailable, problem_);
  logging_in_ = true;
  auto session = co_await log_in();
  logging_in_ = false;
  if (session) {
    failures_ = 0;
    problem_.clear();
    if (!stopped_) lanes_.push_back({std::move(*session), use});
  } else {
    next_login_ = Clock::now() + ssh::retry_pause(failures_++, random_);
    if (problem_ != session.error().message) log::warn(name_, session.error().message);
    problem_ = session.error().message;
  }
  wake();
  if (!session) co_return fail(Errc::kUnavailable, problem_);
  co_return Result<void>();
}

asio::awaitable<Result<std::shared_ptr<ssh::Session>>> JumpHost::log_in() {
  ssh::ConnectRequest request;
  request.host = proxy_.host;
  request.port = proxy_.port;
  request.only_key = proxy_.host_key;
  auto session = co_await ssh::Session::connect(std::move(request));
  if (!session) co_return tl::unexpected(std::move(session).error());
  ssh::Credentials credentials;
  credentials.user = proxy_.user;
  credentials.private_keys = proxy_.private_keys;
  const auto logged_in = co_await (*session)->authenticate(std::move(credentials));
  if (!logged_in) co_return tl::unexpected(logged_in.error());
  co_return std::shared_ptr<ssh::Session>(std::move(*session));
}

}  // namespace hostler::hosts
