#include "core/hosts/conversation.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "core/base/text.h"
#include "core/log/log.h"

namespace hostler::hosts {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kWriteBytes = 262144;
constexpr std::size_t kReadBytes = 16384;  // 10,000 hosts have one each
constexpr auto kPingEvery = std::chrono::seconds(20);

/// What a host says becomes a reason that people read.
std::string shown(const std::string& text) { return printable(text, agent::kTextMax); }

agent::Configure to_configure(const HostSettings& settings,
                              const std::vector<model::BrokenCheck>& checks) {
  agent::Configure out;
  out.uid_first = settings.uid_first;
  out.uid_count = settings.uid_count;
  out.blobs_max = settings.blobs_max;
  for (const auto& check : checks) {
    agent::Check one;
    one.name = check.name;
    one.command = check.command;
    one.interval_us = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(check.interval).count());
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

}  // namespace

Conversation::Conversation(asio::io_context& io, ssh::Channel channel, model::InstanceId instance,
                           std::uint64_t connection, std::shared_ptr<const HostSettings> settings,
                           std::shared_ptr<const HostPorts> ports,
                           std::vector<model::BrokenCheck> checks)
    : io_(io),
      channel_(std::move(channel)),
      instance_(instance),
      connection_(connection),
      settings_(std::move(settings)),
      ports_(std::move(ports)),
      checks_(std::move(checks)),
      reader_(io),
      writer_(io),
      pinger_(io) {}

void Conversation::post(model::HostEventBody body) {
  if (!ended_) ports_->post({instance_, std::move(body)});
}

void Conversation::set_checks(std::vector<model::BrokenCheck> checks) {
  checks_ = std::move(checks);
  if (ready_ && !ended_) configure();
}

void Conversation::configure() {
  if (const auto sent = client_.configure(to_configure(*settings_, checks_)); !sent)
    log::warn("host " + instance_.text(), sent.error().message);
  wake_writer();
}

void Conversation::stop() {
  ended_ = true;
  reader_.cancel();
  writer_.cancel();
  pinger_.cancel();
}

asio::awaitable<Result<void>> Conversation::run(std::function<void()> on_ready) {
  on_ready_ = std::move(on_ready);
  auto self = shared_from_this();
  auto writing = write_loop();
  asio::co_spawn(io_, std::move(writing), [self](const std::exception_ptr&) {});
  auto pinging = ping_loop();
  asio::co_spawn(io_, std::move(pinging), [self](const std::exception_ptr&) {});
  std::vector<char> buffer(kReadBytes);
  Result<void> outcome;
  while (!ended_) {
    if (held_) {
      co_await rest(reader_);
      continue;
    }
    const std::span<char> into(buffer);
    const auto got = co_await channel_.read(into);
    if (!got || *got == 0) {
      outcome = !got ? tl::unexpected(got.error())
                     : Result<void>(
                           fail(Errc::kUnavailable,
                                "the agent hung up" + (channel_.errors().empty()
                                                           ? std::string()
                                                           : ": " + printable(channel_.errors()))));
      break;
    }
    heard_ = true;
    const auto taken = client_.receive(std::string_view(buffer.data(), *got));
    take_events();
    if (!taken || outdated_) {
      outcome = taken ? Result<void>(fail(Errc::kUnavailable,
                                          "an agent of another version was sent away; the next "
                                          "connection starts this one's"))
                      : tl::unexpected(taken.error());
      const std::string last_words(client_.pending());
      client_.sent(last_words.size());
      const std::string_view bytes(last_words);
      const auto told = co_await channel_.write(bytes);
      if (!told) break;
      // The agent ends the channel: hanging up at once would cut the words off.
      [[maybe_unused]] const auto end = co_await channel_.read(into);
      break;
    }
    if (const std::size_t waiting = unread(); waiting > settings_->unread_max) {
      outcome =
          fail(Errc::kMisbehaving, "the agent sends and does not read: " + std::to_string(waiting) +
                                       " bytes wait for it");
      break;
    }
    advance_starts();
    wake_writer();
  }
  for (const Waiting& one : starts_) refuse(one.command, "the connection ended before it was sent");
  starts_.clear();
  stop();
  channel_.hang_up("the conversation with the agent ended");  // also ends a write that is stuck
  if (!problem_.empty()) outcome = fail(Errc::kUnavailable, problem_);
  co_return outcome;
}

/// Until the timer is cancelled.
asio::awaitable<void> Conversation::rest(asio::steady_timer& timer) {
  boost::system::error_code woken;
  timer.expires_at(asio::steady_timer::time_point::max());
  auto token = asio::redirect_error(asio::use_awaitable, woken);
  co_await timer.async_wait(std::move(token));
}

asio::awaitable<void> Conversation::write_loop() {
  const auto self = shared_from_this();
  while (!ended_) {
    if (!acks_.empty()) {
      const std::vector<model::AttemptId> acks = std::exchange(acks_, {});
      if (const auto told = client_.ack(acks); !told)
        log::warn("host " + instance_.text(), told.error().message);
    }
    const std::string piece(client_.pending().substr(0, kWriteBytes));
    if (piece.empty()) {
      co_await rest(writer_);
      continue;
    }
    client_.sent(piece.size());
    const std::string_view bytes(piece);
    const auto written = co_await channel_.write(bytes);
    if (!written) {
      problem_ = written.error().message;
      co_return;  // The reader sees the end too.
    }
    continue_upload();
    advance_starts();
  }
}

/// A dead machine shows by TCP; this is for one that lives and whose agent does not answer.
asio::awaitable<void> Conversation::ping_loop() {
  const auto self = shared_from_this();
  for (std::uint64_t token = 1; !ended_; ++token) {
    heard_ = false;
    if (ready_ && client_.ping(token)) wake_writer();
    boost::system::error_code woken;
    pinger_.expires_after(kPingEvery);
    auto wait = asio::redirect_error(asio::use_awaitable, woken);
    co_await pinger_.async_wait(std::move(wait));
    if (ended_ || heard_ || held_) continue;
    problem_ = "the agent has not answered for " + std::to_string(kPingEvery.count()) + " s";
    channel_.hang_up(problem_);
    co_return;
  }
}

/// Most of what an agent sends is answered: one that never reads must not fill our memory.
std::size_t Conversation::unread() const {
  return client_.pending().size() + acks_.size() * sizeof(model::AttemptId);
}

void Conversation::wake_writer() { writer_.cancel(); }

// ---- commands ----------------------------------------------------------------------------------

/// Whose the attempts are that the agent told of is known to the loop alone: until it has said so,
/// what follows them stays on the channel.
void Conversation::resume(const model::ResumeAttempts& command) {
  if (!held_ || ended_ || command.connection != connection_) return;
  for (const auto attempt : command.attempts) {
    const DurableOutput durable = ports_->durable_output(attempt);
    if (const auto resumed = client_.resume(attempt, durable.stdout_bytes, durable.stderr_bytes);
        !resumed)
      log::warn("host " + instance_.text(), resumed.error().message);
  }
  held_ = false;
  take_events();
  reader_.cancel();
  wake_writer();
}

void Conversation::ack(const model::AckAttempt& command) {
  lost_.erase(command.attempt);
  acks_.push_back(command.attempt);
  wake_writer();
}

// ---- events ------------------------------------------------------------------------------------

void Conversation::take(agent::Ready& ready) {
  const std::string& sha = ready.hello.agent_sha;
  if (!sha.empty() && sha != settings_->agent_sha256) {
    outdated_ = client_.quit().has_value();
    return;
  }
  boot_id_ = ready.hello.boot_id;
  ready_ = true;
  configure();
  model::HostReady event;
  event.boot_id = boot_id_ + "/" + ready.hello.state_id;
  event.connection = connection_;
  event.last_sequence = ready.hello.last_sequence;
  for (const auto& known : ready.attempts)
    event.attempts.push_back({known.attempt, to_phase(known.phase)});
  held_ = true;
  post(std::move(event));
  on_ready_();
}

void Conversation::take_events() {
  while (!held_) {
    auto event = client_.next();
    if (!event) return;
    take(std::move(*event));
  }
}

void Conversation::take(agent::Event&& event) {
  if (auto* ready = std::get_if<agent::Ready>(&event)) {
    take(*ready);
  } else if (const auto* started = std::get_if<agent::Started>(&event)) {
    post(model::AttemptStarted{started->attempt, Wall{started->started_us}});
  } else if (const auto* refused = std::get_if<agent::Refused>(&event)) {
    post(model::AttemptRefused{refused->attempt, shown(refused->text)});
  } else if (auto* exit = std::get_if<agent::Exit>(&event)) {
    exit->end.text = shown(exit->end.text);
    post(model::AttemptExited{exit->attempt, std::move(exit->end)});
  } else if (auto* chunk = std::get_if<agent::Chunk>(&event)) {
    take(*chunk);
  } else if (const auto* lost = std::get_if<agent::OutputLost>(&event)) {
    lose(lost->attempt, lost->text);
  } else if (const auto* files = std::get_if<agent::Files>(&event)) {
    take(*files);
  } else if (const auto* collected = std::get_if<agent::Collected>(&event)) {
    take(*collected);
  } else if (const auto* blob = std::get_if<agent::BlobState>(&event)) {
    take(*blob);
  } else if (const auto* broken = std::get_if<agent::HostBroken>(&event)) {
    post(model::HostBroken{shown(broken->check), shown(broken->text)});
  } else if (const auto* notice = std::get_if<agent::SpotNotice>(&event)) {
    post(model::HostInterruption{shown(notice->text)});
  }
}

}  // namespace hostler::hosts
