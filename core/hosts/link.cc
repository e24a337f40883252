#include "core/hosts/link.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "core/hosts/deploy.h"
#include "core/hosts/exec.h"
#include "core/ssh/verify.h"

namespace hostler::hosts {

namespace asio = boost::asio;

Link::Link(asio::io_context& io, std::shared_ptr<const HostSettings> settings,
           std::shared_ptr<const HostPorts> ports, std::shared_ptr<OutputRoom> room,
           std::shared_ptr<JumpHost> jump, model::PoolPolicy pool, model::HostTarget target)
    : io_(io),
      host_(std::make_shared<HostContext>(std::move(settings), std::move(ports), std::move(room),
                                          std::move(jump), std::move(pool), std::move(target))),
      proof_(*host_),
      rotation_(io_, *host_, proof_),
      boot_(*host_),
      random_(host_->settings->seed ^ host_->target.instance.value),
      timer_(io) {}

void Link::spawn(asio::awaitable<void> coroutine) {
  asio::co_spawn(io_, std::move(coroutine),
                 [self = shared_from_this()](const std::exception_ptr&) {});
}

void Link::start() { spawn(run()); }

void Link::stop() {
  host_->stop_reports();
  if (conversation_) conversation_->stop();
  if (session_) session_->close();
  timer_.cancel();
  rotation_.stop();
}

void Link::set_pool(model::PoolPolicy pool) {
  const bool was_due = rotation_.is_due();
  host_->pool = std::move(pool);
  if (conversation_) conversation_->update_settings();
  if (!was_due && rotation_.is_due() && ready_at_) spawn(rotation_.begin(session_, prefix_));
}

void Link::retarget(model::HostTarget target) {
  auto& known = host_->target;
  const bool moved =
      target.address != known.address || target.port != known.port || target.user != known.user;
  // A proof by this link may be newer than the identity that the loop has sent.
  if (known.identity.verified_by) target.identity = known.identity;
  known = std::move(target);
  if (!moved) return;
  failures_ = 0;
  if (session_) session_->close();
  timer_.cancel();
}

void Link::command(model::HostCommand command) {
  if (auto* start = std::get_if<model::StartAttempt>(&command)) {
    if (conversation_) return conversation_->start(std::move(*start));
    host_->report(model::AttemptRefused{start->attempt, "the host is not connected", false});
  } else if (const auto* resume = std::get_if<model::ResumeAttempts>(&command)) {
    if (conversation_) conversation_->resume(*resume);
  } else if (const auto* kill = std::get_if<model::KillAttempt>(&command)) {
    if (conversation_) conversation_->kill(*kill);
  } else if (const auto* notice = std::get_if<model::InterruptAttempt>(&command)) {
    if (conversation_) conversation_->interrupt(*notice);
  } else if (const auto* ack = std::get_if<model::AckAttempt>(&command)) {
    if (conversation_) conversation_->ack(*ack);
  } else if (const auto* rotation = std::get_if<model::ActivateRotation>(&command)) {
    rotation_.expect(rotation->identity);
    if (session_) spawn(rotation_.activate(session_, prefix_));
  } else if (auto* one = std::get_if<model::RunCommand>(&command)) {
    if (!session_ || !has_rights_)
      host_->report(not_started(*one, "the host is not connected"));
    else if (one->proposal != 0 && !boot_.begin_command(one->proposal))
      host_->report(not_started(*one, "it came too late for the connection that needed it"));
    else
      spawn(run_one(session_, std::move(*one)));
  }
}

asio::awaitable<void> Link::run_one(std::shared_ptr<ssh::Session> session,
                                    model::RunCommand command) {
  std::string prefix = prefix_;
  const std::uint64_t proposal = command.proposal;
  auto ended = co_await run_command(*session, std::move(prefix), std::move(command));
  boot_.command_ended(proposal);
  host_->report(std::move(ended));
}

asio::awaitable<void> Link::pause(Duration time) {
  timer_.expires_after(time);
  boost::system::error_code cancelled;
  auto token = asio::redirect_error(asio::use_awaitable, cancelled);
  co_await timer_.async_wait(std::move(token));
}

asio::awaitable<void> Link::run() {
  while (!host_->is_stopped()) {
    const auto ended = co_await connect_once();
    conversation_.reset();
    session_.reset();
    has_rights_ = false;
    boot_.connection_ended();
    if (host_->is_stopped()) co_return;
    if (const auto since = std::exchange(ready_at_, std::nullopt))
      failures_ = ssh::failures_after(failures_, std::chrono::steady_clock::now() - *since);
    if (std::exchange(verified_, false))
      host_->report(
          model::HostLost{ended ? "the connection ended" : ended.error().message, host_->silent()});
    const Duration wait = ssh::retry_pause(failures_++, random_);
    co_await pause(wait);
  }
}

Link::Step Link::connect_once() {
  std::string key_type = ssh::expected_key_type(host_->target.identity);
  auto connected = co_await host_->connect(std::move(key_type));
  if (!connected) {
    host_->report_not_yet("connect", connected.error().message);
    co_return tl::unexpected(connected.error());
  }
  if (host_->is_stopped()) co_return Result<void>();
  session_ = std::move(*connected);
  const auto session = session_;
  const auto proved = co_await proof_.prove(*session);
  if (!proved) co_return tl::unexpected(proved.error());
  verified_ = true;
  host_->heard();
  auto prefix = co_await choose_prefix(*session);
  if (!prefix) {
    host_->report_not_yet("auth", prefix.error().message);
    co_return tl::unexpected(prefix.error());
  }
  prefix_ = std::move(*prefix);
  has_rights_ = true;
  const auto booted = co_await await_boot(*session);
  if (!booted) co_return tl::unexpected(booted.error());
  if (host_->is_stopped()) co_return Result<void>();
  if (!host_->target.with_agent) {
    const auto lost = co_await keep(*session);
    co_return lost;
  }
  const auto ended = co_await converse(*session);
  co_return ended;
}

asio::awaitable<Result<std::string>> Link::choose_prefix(ssh::Session& session) {
  const std::string sudo = "sudo -n ";
  const auto escalate = host_->set().escalate;
  if (escalate == HostSettings::Escalate::kNone || host_->target.user == "root")
    co_return std::string();
  if (escalate == HostSettings::Escalate::kSudo) co_return sudo;
  ssh::ExecRequest request;
  request.command = "sudo -n true";
  const auto tried = co_await session.exec(std::move(request));
  if (!tried) co_return tl::unexpected(tried.error());
  co_return tried->ok() ? sudo : std::string();
}

Link::Step Link::await_boot(ssh::Session& session) {
  while (!boot_.is_over() && !host_->is_stopped()) {
    const auto over = co_await boot_.check(session);
    if (over) break;
    if (session.is_lost()) co_return tl::unexpected(over.error());
    const Duration wait = ssh::retry_pause(failures_++, random_);
    co_await pause(wait);
  }
  co_return Result<void>();
}

Link::Step Link::converse(ssh::Session& session) {
  std::string prefix = prefix_;
  auto command = co_await deploy_agent(session, std::move(prefix), *host_->settings);
  if (!command) {
    host_->report_not_yet("agent", command.error().message);
    co_return tl::unexpected(command.error());
  }
  ssh::OpenRequest open;
  open.command = std::move(*command);
  auto channel = co_await session.open_channel(std::move(open));
  if (!channel) {
    host_->report_not_yet("agent", channel.error().message);
    co_return tl::unexpected(channel.error());
  }
  conversation_ = std::make_shared<Conversation>(io_, std::move(*channel), host_, ++connection_);
  const auto conversation = conversation_;
  std::function<void()> on_ready = [this, session_kept = session_] { host_is_ready(session_kept); };
  const auto ended = co_await conversation->run(std::move(on_ready));
  if (!ended && !ready_at_) host_->report_not_yet("agent", ended.error().message);
  co_return ended;
}

Link::Step Link::keep(ssh::Session& session) {
  bool is_told = false;
  while (!host_->is_stopped()) {
    const Duration interval = host_->ping_interval();
    const auto boot_id = co_await read_boot_id(session, interval);
    if (!boot_id) {
      if (!is_told) host_->report_not_yet("boot_id", boot_id.error().message);
      co_return tl::unexpected(boot_id.error());
    }
    host_->heard();
    if (!std::exchange(is_told, true)) {
      host_->report(model::HostBooted{*boot_id});
      host_is_ready(session_);
    }
    co_await pause(interval);
  }
  co_return Result<void>();
}

void Link::host_is_ready(std::shared_ptr<ssh::Session> session) {
  ready_at_ = std::chrono::steady_clock::now();
  host_->forget_last_failure();
  proof_.forget_last_alarm();
  if (rotation_.is_due()) spawn(rotation_.begin(std::move(session), prefix_));
}

}  // namespace hostler::hosts
