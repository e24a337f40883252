#include "core/hosts/link.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "core/async/await_callback.h"
#include "core/hosts/deploy.h"
#include "core/ssh/challenge.h"
#include "core/ssh/verify.h"

namespace hostler::hosts {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

const HostSettings::Set& set_of(const HostSettings& settings, const std::string& name) {
  static const HostSettings::Set kDefault;
  const auto found = settings.sets.find(name);
  return found == settings.sets.end() ? kDefault : found->second;
}

}  // namespace

Link::Link(asio::io_context& io, std::shared_ptr<const HostSettings> settings,
           std::shared_ptr<const HostPorts> ports, model::PoolPolicy pool, model::HostTarget target)
    : io_(io),
      settings_(std::move(settings)),
      ports_(std::move(ports)),
      pool_(std::move(pool)),
      set_(set_of(*settings_, target.set)),
      target_(std::move(target)),
      random_(settings_->seed ^ target_.instance.value),
      timer_(io) {}

void Link::start() {
  auto running = run();
  asio::co_spawn(io_, std::move(running),
                 [self = shared_from_this()](const std::exception_ptr&) {});
}

void Link::stop() {
  stopped_ = true;
  if (conversation_) conversation_->stop();
  if (session_) session_->close();
  timer_.cancel();
}

void Link::set_pool(model::PoolPolicy pool) {
  pool_ = std::move(pool);
  if (conversation_) conversation_->set_checks(pool_.broken_checks);
}

void Link::retarget(model::HostTarget target) {
  const bool moved = target.address != target_.address || target.port != target_.port ||
                     target.user != target_.user;
  // What this link has proved since may be newer than what the loop knew when it wrote this.
  if (target_.identity.verified_by) target.identity = target_.identity;
  target_ = std::move(target);
  if (!moved) return;
  failures_ = 0;
  if (session_) session_->close();
  timer_.cancel();
}

void Link::command(model::HostCommand command) {
  if (auto* start = std::get_if<model::StartAttempt>(&command)) {
    if (conversation_) return conversation_->start(std::move(*start));
    post(model::AttemptRefused{start->attempt, "the host is not connected"});
  } else if (const auto* resume = std::get_if<model::ResumeAttempts>(&command)) {
    if (conversation_) conversation_->resume(*resume);
  } else if (const auto* kill = std::get_if<model::KillAttempt>(&command)) {
    if (conversation_) conversation_->kill(*kill);
  } else if (const auto* ack = std::get_if<model::AckAttempt>(&command)) {
    if (conversation_) conversation_->ack(*ack);
  } else if (auto* rotation = std::get_if<model::ActivateRotation>(&command)) {
    target_.identity.next_public_key = rotation->identity.next_public_key;
    target_.identity.next_secret = rotation->identity.next_secret;
    if (!session_) return;
    auto carried_out = carry_out_rotation(session_, target_.identity);
    asio::co_spawn(io_, std::move(carried_out), asio::detached);
  }
}

void Link::post(model::HostEventBody body) {
  if (!stopped_) ports_->post({target_.instance, std::move(body)});
}

void Link::not_yet(const std::string& step, const std::string& text) {
  if (said_ == step + text) return;
  said_ = step + text;
  post(model::HostNotYet{step, text});
}

asio::awaitable<void> Link::pause(Duration time) {
  timer_.expires_after(time);
  boost::system::error_code woken;
  auto token = asio::redirect_error(asio::use_awaitable, woken);
  co_await timer_.async_wait(std::move(token));
}

asio::awaitable<void> Link::run() {
  while (!stopped_) {
    const auto ended = co_await connect_once();
    conversation_.reset();
    session_.reset();
    if (stopped_) co_return;
    if (const auto since = std::exchange(ready_at_, std::nullopt)) {
      failures_ = ssh::failures_after(failures_, std::chrono::steady_clock::now() - *since);
      post(model::HostLost{ended ? "the connection ended" : ended.error().message});
    }
    const Duration wait = ssh::retry_pause(failures_++, random_);
    co_await pause(wait);
  }
}

Link::Step Link::connect_once() {
  ssh::ConnectRequest request;
  request.host = target_.address;
  request.port = target_.port;
  request.key_type = ssh::expected_key_type(target_.identity);
  auto connected = co_await ssh::Session::connect(std::move(request));
  if (!connected) {
    not_yet("connect", connected.error().message);
    co_return tl::unexpected(connected.error());
  }
  if (stopped_) co_return Result<void>();
  session_ = std::move(*connected);
  const auto session = session_;
  const auto proved = co_await prove(*session);
  if (!proved) co_return tl::unexpected(proved.error());
  auto prefix = co_await choose_prefix(*session);
  if (!prefix) {
    not_yet("auth", prefix.error().message);
    co_return tl::unexpected(prefix.error());
  }
  prefix_ = std::move(*prefix);
  while (!probed_ && !stopped_) {
    const auto booted = co_await probe(*session);
    if (booted) break;
    if (session->is_lost()) co_return tl::unexpected(booted.error());
    const Duration wait = ssh::retry_pause(failures_++, random_);
    co_await pause(wait);
  }
  probed_ = true;
  if (stopped_) co_return Result<void>();
  const auto talked = co_await converse(*session);
  co_return talked;
}

void Link::accepted(model::VerifyMethod method, const std::string& key, bool is_next) {
  auto& identity = target_.identity;
  if (is_next) {
    identity.challenge_secret = identity.next_secret;
    identity.next_public_key.clear();
    identity.next_secret.clear();
    identity.rotation = model::Rotation::kDone;
  }
  identity.verified_by = method;
  identity.public_key = key;
  ports_->count_verification(method, false);
  post(model::HostVerified{method, key});
}

Link::Step Link::prove(ssh::Session& session) {
  const std::string key = session.host_key().line();
  std::optional<bool> driver_says;
  auto judgement = ssh::judge(target_.identity, pool_.verify, key, driver_says);
  if (judgement.verdict == ssh::Verdict::kAskDriver) {
    const auto said = co_await ask_driver(key);
    driver_says = said.has_value() && *said;
    judgement = ssh::judge(target_.identity, pool_.verify, key, driver_says);
  }
  if (judgement.verdict == ssh::Verdict::kAlarm) {
    ports_->count_verification(std::nullopt, true);
    if (std::exchange(alarming_key_, key) == key)
      not_yet("verify", judgement.why);
    else
      post(model::HostKeyAlarm{key, judgement.why});
    co_return fail(Errc::kMisbehaving, judgement.why);
  }
  if (judgement.verdict == ssh::Verdict::kNotYet) {
    ports_->count_verification(std::nullopt, false);
    not_yet("verify", judgement.why);
    co_return fail(Errc::kUnavailable, judgement.why);
  }
  const auto entered = co_await authenticate(session);
  if (!entered) {
    not_yet("auth", entered.error().message);
    co_return entered;
  }
  if (judgement.verdict == ssh::Verdict::kChallenge) {
    std::string instance = target_.instance.text();
    std::string secret = target_.identity.challenge_secret;
    const auto proof = co_await ssh::prove(session, std::move(instance), std::move(secret));
    if (!proof) {
      ports_->count_verification(std::nullopt, false);
      not_yet("verify", proof.error().message);
      co_return proof;
    }
    judgement.method = model::VerifyMethod::kChallenge;
  }
  accepted(judgement.method, key, judgement.is_next);
  co_return Result<void>();
}

asio::awaitable<Result<bool>> Link::ask_driver(std::string key) {
  auto ask = [this, shown = std::move(key)](auto give) {
    ports_->ask_driver(target_, shown, std::move(give));
  };
  auto said = co_await async::await_callback<Result<bool>>(std::move(ask));
  co_return said;
}

Link::Step Link::authenticate(ssh::Session& session) {
  ssh::Credentials credentials;
  credentials.user = target_.user;
  credentials.private_keys = set_.private_keys;
  const auto entered = co_await session.authenticate(std::move(credentials));
  co_return entered;
}

asio::awaitable<Result<std::string>> Link::choose_prefix(ssh::Session& session) {
  const std::string sudo = "sudo -n ";
  if (set_.escalate == HostSettings::Escalate::kNone || target_.user == "root")
    co_return std::string();
  if (set_.escalate == HostSettings::Escalate::kSudo) co_return sudo;
  ssh::ExecRequest request;
  request.command = "sudo -n true";
  const auto may = co_await session.exec(std::move(request));
  if (!may) co_return tl::unexpected(may.error());
  co_return may->ok() ? sudo : std::string();
}

Link::Step Link::probe(ssh::Session& session) {
  if (pool_.boot_probe.empty() || pool_.boot_probe == "true") co_return Result<void>();
  ssh::ExecRequest request;
  request.command = "sh -s";
  request.input = pool_.boot_probe + "\n";
  request.output_max = 4096;
  const auto said = co_await session.exec(std::move(request));
  if (!said) {
    not_yet("probe", said.error().message);
    co_return tl::unexpected(said.error());
  }
  if (said->ok()) co_return Result<void>();
  const std::string text = said->describe();
  not_yet("probe", text);
  co_return fail(Errc::kUnavailable, text);
}

Link::Step Link::converse(ssh::Session& session) {
  std::string prefix = prefix_;
  auto command = co_await deploy_agent(session, std::move(prefix), *settings_);
  if (!command) {
    not_yet("agent", command.error().message);
    co_return tl::unexpected(command.error());
  }
  ssh::OpenRequest open;
  open.command = std::move(*command);
  auto channel = co_await session.open_channel(std::move(open));
  if (!channel) {
    not_yet("agent", channel.error().message);
    co_return tl::unexpected(channel.error());
  }
  conversation_ =
      std::make_shared<Conversation>(io_, std::move(*channel), target_.instance, ++connection_,
                                     settings_, ports_, pool_.broken_checks);
  const auto conversation = conversation_;
  const auto talking_on = session_;
  std::function<void()> on_ready = [this, talking_on] {
    ready_at_ = std::chrono::steady_clock::now();
    said_.clear();
    alarming_key_.clear();
    rotate(*talking_on);
  };
  const auto ended = co_await conversation->run(std::move(on_ready));
  if (!ended && !ready_at_) not_yet("agent", ended.error().message);
  co_return ended;
}

}  // namespace hostler::hosts
