#include "core/hosts/conversation.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/hosts/notice_text.h"
#include "core/log/log.h"

namespace hostler::hosts {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kWriteBytes = 262144;
constexpr std::size_t kReadBytes = 16384;  // Each of 10,000 hosts has such a buffer.
/// An agent that starts has so long to greet.
constexpr Duration kGreetingMax = std::chrono::seconds(20);
/// After this thread was held up, bytes that have arrived are read within this time.
constexpr Duration kReadFirst = std::chrono::milliseconds(100);

/// Text of a host that becomes a reason which people read.
std::string shown(const std::string& text) { return printable(text, agent::kTextMax); }

std::uint64_t to_us(Duration time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

agent::Configure to_configure(const HostSettings& settings, const model::PoolPolicy& pool) {
  agent::Configure out;
  out.uid_first = settings.uid_first;
  out.uid_count = settings.uid_count;
  out.blobs_max = settings.blobs_max;
  for (const auto& check : pool.broken_checks) {
    agent::Check one;
    one.name = check.name;
    one.command = check.command;
    one.interval_us = to_us(check.interval);
    out.checks.push_back(std::move(one));
  }
  if (const auto& check = pool.interruption_check; !check.command.empty()) {
    agent::Check one;
    one.name = "interruption";
    one.command = check.command;
    one.interval_us = to_us(check.interval);
    one.kind = agent::Check::Kind::kInterrupted;
    out.checks.push_back(std::move(one));
  }
  return out;
}

model::AttemptPhase to_phase(agent::Phase phase) {
  switch (phase) {
    case agent::Phase::kRunning:
      return model::AttemptPhase::kRunning;
    case agent::Phase::kEnded:
      return model::AttemptPhase::kEnded;
    case agent::Phase::kUnknownEnd:
      return model::AttemptPhase::kUnknownEnd;
  }
  return model::AttemptPhase::kUnknownEnd;
}

/// Waits until the timer is cancelled.
asio::awaitable<void> await_wake(asio::steady_timer& timer) {
  boost::system::error_code cancelled;
  timer.expires_at(asio::steady_timer::time_point::max());
  auto token = asio::redirect_error(asio::use_awaitable, cancelled);
  co_await timer.async_wait(std::move(token));
}

}  // namespace

Conversation::Conversation(asio::io_context& io, ssh::Channel channel,
                           std::shared_ptr<HostContext> host, std::uint64_t connection)
    : io_(io),
      host_(std::move(host)),
      channel_(std::move(channel)),
      connection_(connection),
      starts_(*host_, client_),
      output_(std::make_shared<OutputReceiver>(io, *host_, client_,
                                               [this] {
                                                 if (has_ended()) return;
                                                 handle_events();
                                                 wake_writer();
                                               })),
      reader_wake_(io),
      writer_wake_(io),
      ping_timer_(io) {}

void Conversation::stop() {
  phase_ = Phase::kEnded;
  reader_wake_.cancel();
  writer_wake_.cancel();
  ping_timer_.cancel();
  output_->stop();
}

// ---- reading, writing, pinging -----------------------------------------------------------------

asio::awaitable<Result<void>> Conversation::run(std::function<void()> on_ready) {
  on_ready_ = std::move(on_ready);
  const auto self = shared_from_this();
  auto writing = write_loop();
  asio::co_spawn(io_, std::move(writing), [self](const std::exception_ptr&) {});
  auto pinging = ping_loop();
  asio::co_spawn(io_, std::move(pinging), [self](const std::exception_ptr&) {});
  std::vector<char> buffer(kReadBytes);
  const std::span<char> into(buffer);
  Result<void> outcome;
  while (!has_ended() && outcome) {
    if (phase_ == Phase::kHeld)
      co_await await_wake(reader_wake_);
    else
      outcome = co_await read_once(into);
  }
  starts_.refuse_all("the connection ended before it was sent");
  stop();
  channel_.hang_up("the conversation with the agent ended");  // Ends a write that is stuck, too.
  if (!problem_.empty()) outcome = fail(Errc::kUnavailable, problem_);
  co_return outcome;
}

asio::awaitable<Result<void>> Conversation::read_once(std::span<char> buffer) {
  const auto got = co_await channel_.read(buffer);
  if (!got) co_return tl::unexpected(got.error());
  if (*got == 0) {
    const std::string& errors = channel_.errors();
    co_return fail(Errc::kUnavailable,
                   "the agent hung up" + (errors.empty() ? "" : ": " + printable(errors)));
  }
  received_ = true;
  host_->heard();
  const auto decoded = client_.receive(std::string_view(buffer.data(), *got));
  handle_events();
  if (!decoded && decoded.error().code == Errc::kMisbehaving && is_connected())
    host_->report(model::HostBroken{agent::kProtocol, shown(decoded.error().message)});
  if (!decoded || phase_ == Phase::kOutdated) {
    co_await say_goodbye(buffer);
    if (!decoded) co_return tl::unexpected(decoded.error());
    co_return fail(Errc::kUnavailable,
                   "an agent of another version was sent away; the next connection starts this "
                   "one's");
  }
  // Most messages of an agent are answered: an agent that never reads must not fill our memory.
  const std::size_t unread = client_.pending().size() + output_->ack_bytes();
  if (unread > host_->settings->unread_max)
    co_return fail(Errc::kMisbehaving, "the agent sends and does not read: " +
                                           std::to_string(unread) + " bytes wait for it");
  wake_writer();
  co_return Result<void>();
}

asio::awaitable<void> Conversation::say_goodbye(std::span<char> buffer) {
  const std::string unsent(client_.pending());
  client_.sent(unsent.size());
  const std::string_view bytes(unsent);
  const auto written = co_await channel_.write(bytes);
  if (!written) co_return;
  // The agent ends the channel. Hanging up at once could cut the words off.
  [[maybe_unused]] const auto end = co_await channel_.read(buffer);
}

asio::awaitable<void> Conversation::write_loop() {
  const auto self = shared_from_this();
  while (!has_ended()) {
    output_->send_acks();
    const std::string piece(client_.pending().substr(0, kWriteBytes));
    if (piece.empty()) {
      co_await await_wake(writer_wake_);
      continue;
    }
    client_.sent(piece.size());
    const std::string_view bytes(piece);
    const auto written = co_await channel_.write(bytes);
    before_ping_ -= std::min(before_ping_, piece.size());
    if (!written) {
      problem_ = written.error().message;
      co_return;  // The reader notices the end too.
    }
    if (!has_ended()) starts_.advance();
  }
}

asio::awaitable<void> Conversation::ping_pause(Duration time) {
  boost::system::error_code cancelled;
  ping_timer_.expires_after(time);
  auto wait = asio::redirect_error(asio::use_awaitable, cancelled);
  co_await ping_timer_.async_wait(std::move(wait));
}

/// A machine that freezes leaves its connection open: only pings find it. Until the greeting the
/// agent is not asked.
asio::awaitable<void> Conversation::ping_loop() {
  const auto self = shared_from_this();
  for (std::uint64_t token = 1; !has_ended(); ++token) {
    received_ = false;
    before_ping_ = client_.pending().size();
    if (is_connected() && client_.ping(token)) wake_writer();
    const Duration limit = is_connected() ? host_->ping_interval() : kGreetingMax;
    for (auto left = before_ping_ + 1; before_ping_ < left && !received_ && !has_ended();) {
      left = before_ping_;  // Less by the next round: a slow link still takes what goes first.
      co_await ping_pause(limit);
    }
    if (!received_ && !has_ended()) co_await ping_pause(kReadFirst);
    // While it is held, nothing is read.
    if (has_ended() || received_ || phase_ == Phase::kHeld) continue;
    problem_ = "the agent has not answered for " + format_duration(limit);
    channel_.hang_up(problem_);
    co_return;
  }
}

// ---- commands ----------------------------------------------------------------------------------

void Conversation::update_checks() {
  if (is_connected()) send_checks();
}

void Conversation::send_checks() {
  const auto configure = to_configure(*host_->settings, host_->pool);
  if (const auto sent = client_.configure(configure); !sent)
    log::warn(host_->name(), sent.error().message);
  wake_writer();
}

/// Only the loop knows which of the attempts that the agent has listed belong to this host. Until
/// it has said so, the messages that follow them stay on the channel.
void Conversation::resume(const model::ResumeAttempts& command) {
  if (phase_ != Phase::kHeld || command.connection != connection_) return;
  for (const auto attempt : command.attempts) {
    const DurableOutput durable = host_->ports->durable_output(attempt);
    if (const auto resumed = client_.resume(attempt, durable.stdout_bytes, durable.stderr_bytes);
        !resumed)
      log::warn(host_->name(), resumed.error().message);
  }
  phase_ = Phase::kOpen;
  handle_events();
  reader_wake_.cancel();
  wake_writer();
}

void Conversation::start(model::StartAttempt command) {
  if (!is_connected() || command.connection != connection_)
    return host_->refuse_unsent(command.attempt, "it was meant for an earlier connection");
  starts_.add(std::move(command));
  starts_.advance();
  wake_writer();
}

void Conversation::kill(const model::KillAttempt& command) {
  if (starts_.cancel(command.attempt)) return starts_.advance();
  if (const auto sent = client_.kill(command.attempt); !sent)
    log::warn(host_->name(), sent.error().message);
  wake_writer();
}

void Conversation::interrupt(const model::InterruptAttempt& command) {
  if (!is_connected()) return;
  agent::Interrupt out;
  out.attempt = command.attempt;
  out.notice = static_cast<std::uint64_t>(command.noticed.us);
  out.at_us = command.at.us;
  out.left_us = to_us(std::max(command.left, Duration::zero()));
  out.action = command.action;
  if (const auto sent = client_.interrupt(out); !sent)
    log::warn(host_->name(), sent.error().message);
  wake_writer();
}

void Conversation::ack(const model::AckAttempt& command) {
  output_->ack(command.attempt);
  wake_writer();
}

// ---- events ------------------------------------------------------------------------------------

void Conversation::handle_events() {
  while (phase_ == Phase::kGreeting || phase_ == Phase::kOpen) {
    auto event = client_.next();
    if (!event) break;
    on_event(std::move(*event));
  }
  if (phase_ == Phase::kOpen) starts_.advance();
}

void Conversation::on_ready(agent::Ready& ready) {
  const std::string& sha = ready.hello.agent_sha;
  if (!sha.empty() && sha != host_->settings->agent_sha256) {
    if (client_.quit()) phase_ = Phase::kOutdated;
    return;
  }
  starts_.set_boot_id(ready.hello.boot_id);
  phase_ = Phase::kHeld;
  ping_timer_.cancel();
  send_checks();
  model::HostReady event;
  event.boot_id = ready.hello.boot_id + "/" + ready.hello.state_id;
  event.connection = connection_;
  event.last_sequence = ready.hello.last_sequence;
  event.scratch = ready.scratch;
  event.ram = ready.ram;
  for (const auto& known : ready.attempts)
    event.attempts.push_back({known.attempt, to_phase(known.phase)});
  host_->report(std::move(event));
  on_ready_();
}

void Conversation::on_event(agent::Event&& event) {
  if (auto* ready = std::get_if<agent::Ready>(&event)) {
    on_ready(*ready);
  } else if (const auto* started = std::get_if<agent::Started>(&event)) {
    host_->report(model::AttemptStarted{started->attempt, Wall{started->started_us}});
  } else if (const auto* refused = std::get_if<agent::Refused>(&event)) {
    // A full host says nothing about itself or the job.
    const bool tried = refused->why != agent::Refused::Why::kOtherBoot &&
                       refused->why != agent::Refused::Why::kBusy;
    host_->report(model::AttemptRefused{refused->attempt, shown(refused->text), tried});
  } else if (auto* exit = std::get_if<agent::Exit>(&event)) {
    exit->end.text = shown(exit->end.text);
    host_->report(model::AttemptExited{exit->attempt, exit->end});
    output_->on_exit(exit->attempt, exit->end);
  } else if (auto* chunk = std::get_if<agent::Chunk>(&event)) {
    output_->on_chunk(*chunk);
  } else if (const auto* lost = std::get_if<agent::OutputLost>(&event)) {
    output_->on_lost(*lost);
  } else if (const auto* files = std::get_if<agent::Files>(&event)) {
    output_->on_files(*files);
  } else if (const auto* collected = std::get_if<agent::Collected>(&event)) {
    output_->on_collected(*collected);
  } else if (const auto* blob = std::get_if<agent::BlobState>(&event)) {
    starts_.on_blob_state(*blob);
  } else if (const auto* broken = std::get_if<agent::HostBroken>(&event)) {
    host_->report(model::HostBroken{shown(broken->check), shown(broken->text)});
  } else if (const auto* notice = std::get_if<agent::SpotNotice>(&event)) {
    host_->report(read_notice(shown(notice->text)));
  }
}

}  // namespace hostler::hosts
