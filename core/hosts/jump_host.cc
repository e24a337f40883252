#include "core/hosts/jump_host.h"

#include <boost/asio/co_spawn.hpp>
#include <utility>

#include "core/base/units.h"
#include "core/log/log.h"
#include "core/ssh/tunnel.h"
#include "core/ssh/verify.h"

namespace hostler::hosts {

namespace asio = boost::asio;

namespace {

constexpr auto kPatience = std::chrono::seconds(30);
/// A host that may well answer does so at once. One that was silent gets more time at its next try,
/// which holds up only others that were silent.
constexpr auto kFirstTry = std::chrono::seconds(1), kNextTry = std::chrono::seconds(3);
constexpr auto kIdleMax = std::chrono::minutes(1);

JumpQueue::Line line_of(JumpLogins::Use use, Reach::Standing standing) {
  if (use == JumpLogins::Use::kShared) return JumpQueue::Line::kShared;
  return static_cast<JumpQueue::Line>(standing);
}

}  // namespace

JumpHost::JumpHost(asio::io_context& io, HostSettings::Proxy proxy, std::uint64_t seed, Tell tell)
    : io_(io),
      proxy_(std::move(proxy)),
      name_("jump host " + proxy_.name),
      tell_(std::move(tell)),
      random_(seed),
      queue_(io),
      idle_(io) {}

void JumpHost::stop() {
  stopped_ = true;
  logins_.close();
  idle_.cancel();
  queue_.wake_all();
}

void JumpHost::end_tries_later() {
  idle_.expires_after(kIdleMax);
  idle_.async_wait([weak = weak_from_this()](const auto& cancelled) {
    const auto self = weak.lock();
    if (!cancelled && self) self->logins_.drop_tries();
  });
}

asio::awaitable<Result<std::unique_ptr<ssh::Session>>> JumpHost::connect(
    ssh::ConnectRequest request, Reach& reach) {
  if (reach.host != request.host || reach.port != request.port)
    reach = Reach{.host = request.host, .port = request.port, .tried = {}};
  const auto until = Clock::now() + kPatience;
  request.via = name_;
  ssh::TunnelRequest tried{.host = request.host, .port = request.port};
  tried.limit = reach.standing == Reach::Standing::kSilent ? kNextTry : kFirstTry;
  const auto answered = co_await open(std::move(tried), Use::kTry, reach, until);
  end_tries_later();
  if (!answered) co_return tl::unexpected(answered.error());
  ssh::TunnelRequest wanted{.host = request.host, .port = request.port};
  auto tunnel = co_await open(std::move(wanted), Use::kShared, reach, until);
  if (!tunnel) co_return tl::unexpected(std::move(tunnel).error());
  auto session = co_await ssh::Session::connect_through(std::move(*tunnel), std::move(request));
  co_return session;
}

asio::awaitable<JumpHost::Opened> JumpHost::open(ssh::TunnelRequest request, Use use, Reach& reach,
                                                 Clock::time_point until) {
  const auto session = co_await free_session(use, reach, until);
  if (!session) co_return tl::unexpected(Error(session.error()).with_context("through " + name_));
  const auto asked = Clock::now();
  auto opened = co_await (*session)->open_tunnel(std::move(request));
  queue_.wake();
  if (!(*session)->is_lost()) {
    const bool was_prompt = Clock::now() - asked < JumpLogins::kPrompt;
    using enum Reach::Standing;
    reach.standing = opened ? kAnswers : was_prompt ? kNew : kSilent;
    reach.tried = asked;
  }
  if (!opened) co_return tl::unexpected(std::move(opened).error().with_context("through " + name_));
  co_return opened;
}

asio::awaitable<Result<JumpHost::SharedSession>> JumpHost::free_session(Use use, Reach reach,
                                                                        Clock::time_point until) {
  JumpQueue::Turn turn(queue_, line_of(use, reach.standing), reach.tried);
  for (;;) {
    if (stopped_) co_return fail(Errc::kUnavailable, "hostlerd ends");
    logins_.drop_ended();
    const auto now = Clock::now();
    if (turn.is_first()) {
      if (auto free = logins_.take(use, reach.standing, now)) {
        turn.served();
        co_return free;
      }
      if (!logging_in_ && logins_.may_add(use, reach.standing, now)) {
        if (now < next_login_) co_return fail(Errc::kUnavailable, problem_);
        begin_login(use);
      }
    }
    if (now >= until)
      co_return fail(Errc::kUnavailable, "it was busy with other hosts for " +
                                             format_duration(kPatience) +
                                             ", which do not answer or wait too");
    co_await turn.wait(until);
  }
}

/// One login at a time: sshd refuses some of many (MaxStartups). After a failure there is a pause,
/// in which all who need one get the same error. Whoever waits for the login may end before it.
void JumpHost::begin_login(Use use) {
  logging_in_ = true;
  asio::co_spawn(io_, log_in(),
                 [self = shared_from_this(), use](const std::exception_ptr& broken,
                                                  Result<SharedSession> session) {
                   if (broken)
                     session = fail(Errc::kUnavailable, "the login could not be carried out");
                   self->logged_in(use, std::move(session));
                 });
}

void JumpHost::logged_in(Use use, Result<SharedSession> session) {
  logging_in_ = false;
  if (session) {
    failures_ = 0;
    set_problem({});
    if (!stopped_) logins_.add(use, std::move(*session));
  } else {
    next_login_ = Clock::now() + ssh::retry_pause(failures_++, random_);
    set_problem(session.error().message);
  }
  queue_.wake();
}

void JumpHost::set_problem(std::string problem) {
  if (problem_ == problem) return;
  problem_ = std::move(problem);
  if (problem_.empty())
    log::info(name_, "works again");
  else
    log::warn(name_, problem_);
  if (!stopped_) tell_(problem_);
}

asio::awaitable<Result<JumpHost::SharedSession>> JumpHost::log_in() {
  ssh::ConnectRequest request;
  request.host = proxy_.host;
  request.port = proxy_.port;
  request.only_key = proxy_.host_key;
  request.names = names_;
  auto session = co_await ssh::Session::connect(std::move(request));
  if (!session) co_return tl::unexpected(std::move(session).error());
  ssh::Credentials credentials;
  credentials.user = proxy_.user;
  credentials.private_keys = proxy_.private_keys;
  const auto logged_in = co_await (*session)->authenticate(std::move(credentials));
  if (!logged_in) co_return tl::unexpected(logged_in.error());
  co_return SharedSession(std::move(*session));
}

}  // namespace hostler::hosts
