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
#include "core/hosts/agent_settings.h"
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

/// Waits for this time, or until the timer is cancelled.
asio::awaitable<void> await_end_of(asio::steady_timer& timer, Duration time) {
  boost::system::error_code cancelled;
  timer.expires_after(time);
  auto token = asio::redirect_error(asio::use_awaitable, cancelled);
  co_await timer.async_wait(std::move(token));
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
    : host_(std::move(host)),
      channel_(std::move(channel)),
      connection_(connection),
      starts_(*host_, client_, cards_),
      output_(std::make_shared<OutputReceiver>(io, *host_, client_,
                                               [this] {
                                                 if (has_ended()) return;
                                                 handle_events();
                                                 wake_writer();
                                               })),
      reader_wake_(io),
      writer_wake_(io),
      ping_timer_(io),
      cards_timer_(io) {}

void Conversation::stop() {
  phase_ = Phase::kEnded;
  reader_wake_.cancel();
  writer_wake_.cancel();
  ping_timer_.cancel();
  cards_timer_.cancel();
  output_->stop();
}

// ---- reading, writing, pinging -----------------------------------------------------------------

asio::awaitable<Result<void>> Conversation::run(std::function<void()> on_ready) {
  on_ready_ = std::move(on_ready);
  const auto self = shared_from_this();
  spawn(write_loop());
  spawn(ping_loop());
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

void Conversation::spawn(asio::awaitable<void> coroutine) {
  asio::co_spawn(ping_timer_.get_executor(), std::move(coroutine),
                 [self = shared_from_this()](const std::exception_ptr&) {});
}

asio::awaitable<Result<void>> Conversation::read_once(std::span<char> buffer) {
  const auto got = co_await channel_.read(buffer);
  // Ready may have come meanwhile without what is read here: see await_cards().
  while (phase_ == Phase::kHeld) co_await await_wake(reader_wake_);
  if (has_ended()) co_return Result<void>();
  if (!got) co_return tl::unexpected(got.error());
  if (*got == 0) {
    const std::string& errors = channel_.errors();
    co_return fail(Errc::kUnavailable,
                   "the agent hung up" + (errors.empty() ? "" : ": " + printable(errors)));
  }
  ping_.received = true;
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
    ping_.before -= std::min(ping_.before, piece.size());
    if (!written) {
      problem_ = written.error().message;
      co_return;  // The reader notices the end too.
    }
    if (!has_ended()) starts_.advance();
  }
}

asio::awaitable<void> Conversation::ping_pause(Duration time) {
  co_await await_end_of(ping_timer_, time);
}

asio::awaitable<void> Conversation::await_cards() {
  const Duration patience = host_->settings->patience.cards;
  co_await await_end_of(cards_timer_, patience);
  if (phase_ != Phase::kListing) co_return;
  client_.report_ready();
  handle_events();
  wake_writer();
  if (phase_ == Phase::kListing)
    end_with("the agent has not listed its attempts for " + format_duration(patience));
}

void Conversation::end_with(std::string problem) {
  problem_ = std::move(problem);
  channel_.hang_up(problem_);
}

/// A machine that freezes leaves its connection open: only pings find it. Until the greeting the
/// agent is not asked.
asio::awaitable<void> Conversation::ping_loop() {
  const auto self = shared_from_this();
  for (std::uint64_t token = 1; !has_ended(); ++token) {
    ping_.received = false;
    ping_.before = client_.pending().size();
    if (has_greeted() && client_.ping(token)) wake_writer();
    const Duration limit = has_greeted() ? host_->ping_interval() : kGreetingMax;
    for (auto left = ping_.before + 1; ping_.before < left && !ping_.received && !has_ended();) {
      left = ping_.before;  // Less by the next round: a slow link still takes what goes first.
      co_await ping_pause(limit);
    }
    if (!ping_.received && !has_ended()) co_await ping_pause(kReadFirst);
    // While it is held, nothing is read.
    if (has_ended() || ping_.received || phase_ == Phase::kHeld) continue;
    end_with("the agent has not answered for " + format_duration(limit));
    co_return;
  }
}

// ---- commands ----------------------------------------------------------------------------------

void Conversation::update_settings() {
  if (has_greeted()) send_settings();
}

void Conversation::send_settings() {
  const auto configure = to_configure(*host_->settings, host_->pool);
  if (const auto sent = client_.configure(configure); !sent)
    log::warn(host_->name(), sent.error().message);
  cards_.expect();
  wake_writer();
}

void Conversation::send_guard() {
  const auto guard = cards_.take_guard();
  if (!guard) return;
  if (const auto sent = client_.guard(*guard); !sent)
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
  if (const agent::Hello* hello = client_.hello(); hello != nullptr) greet(*hello);
  while (phase_ == Phase::kGreeting || phase_ == Phase::kListing || phase_ == Phase::kOpen) {
    auto event = client_.next();
    if (!event) break;
    on_event(std::move(*event));
  }
  if (phase_ == Phase::kOpen) starts_.advance();
}

void Conversation::greet(const agent::Hello& hello) {
  if (phase_ != Phase::kGreeting) return;
  if (!hello.agent_sha.empty() && hello.agent_sha != host_->settings->agent_sha256) {
    if (client_.quit()) phase_ = Phase::kOutdated;
    return;
  }
  phase_ = Phase::kListing;
  ping_timer_.cancel();
  send_settings();
  spawn(await_cards());
}

void Conversation::on_ready(agent::Ready& ready) {
  greet(ready.hello);
  if (phase_ != Phase::kListing) return;
  starts_.set_boot_id(ready.hello.boot_id);
  phase_ = Phase::kHeld;
  ping_timer_.cancel();
  cards_timer_.cancel();
  if (ready.cards)
    learn(*ready.cards);
  else
    cards_.learn_nothing(host_->settings->patience.cards);
  model::HostReady event;
  event.boot_id = ready.hello.boot_id + "/" + ready.hello.state_id;
  event.connection = connection_;
  event.last_sequence = ready.hello.last_sequence;
  event.scratch = ready.scratch;
  event.ram = ready.ram;
  for (const auto& known : ready.attempts)
    event.attempts.push_back({known.attempt, to_phase(known.phase), known.cards});
  event.cards = cards_.report();
  host_->report(std::move(event));
  on_ready_();
}

bool Conversation::learn(const agent::Cards& cards) {
  const bool is_news = cards_.learn(cards);
  send_guard();
  return is_news;
}

void Conversation::on_cards(const agent::Cards& cards) {
  if (!problem_.empty()) return;
  if (!cards_.admit(std::chrono::steady_clock::now())) {
    end_with("the agent tells of its cards more often than once a minute");
    return host_->report(model::HostBroken{agent::kProtocol, problem_});
  }
  if (learn(cards)) host_->report(model::HostCards{cards_.report()});
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
  } else if (const auto* cards = std::get_if<agent::Cards>(&event)) {
    on_cards(*cards);
  } else if (const auto* notice = std::get_if<agent::SpotNotice>(&event)) {
    host_->report(read_notice(shown(notice->text)));
  }
}

}  // namespace hostler::hosts
