#include "core/agent/client.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/text.h"

namespace hostler::agent {
namespace {

constexpr std::size_t kNoiseMax = std::size_t{64} << 10;
constexpr std::size_t kFilesMax = 10'000;
constexpr std::uint64_t kStreamMax = INT64_MAX;  // sizes and offsets are signed in store and API

tl::unexpected<Error> misbehaves(std::string what) {
  return fail(Errc::kMisbehaving, "agent: " + std::move(what));
}

}  // namespace

Result<void> Client::receive(std::string_view bytes) {
  if (problem_) return tl::unexpected(*problem_);
  if (!greeted_) HOSTLER_TRY(greet(bytes));
  if (!greeted_) return {};
  decoder_.feed(bytes);
  if (ready_told_) held_ = false;
  return decode();
}

/// Stops behind Ready until the caller has seen it: what he resumes then must be known before the
/// exits and output that may already be here.
Result<void> Client::decode() {
  while (!held_) {
    auto message = decoder_.next();
    if (!message) return misbehaves(message.error().message);
    if (!*message) return {};
    HOSTLER_TRY(on_message(**std::move(message)));
  }
  return {};
}

Result<void> Client::greet(std::string_view& bytes) {
  noise_.append(bytes);
  const std::size_t at = noise_.find(kGreeting);
  if (at == std::string::npos) {
    if (noise_.size() > kNoiseMax)
      return misbehaves("no greeting in " + std::to_string(noise_.size()) +
                        " bytes; the login shell says: " + printable(noise_));
    bytes = {};
    return {};
  }
  greeted_ = true;
  const std::size_t rest = noise_.size() - at - kGreeting.size();
  bytes.remove_prefix(bytes.size() - rest);
  noise_.clear();
  return {};
}

std::optional<Event> Client::next() {
  if (ready_told_ && held_ && !problem_) {
    held_ = false;
    if (auto decoded = decode(); !decoded) problem_ = std::move(decoded).error();
  }
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  if (std::holds_alternative<Ready>(event)) ready_told_ = true;
  return event;
}

// ---- commands ----------------------------------------------------------------------------------

Result<void> Client::start(Start start) {
  start.credit = window_;
  HOSTLER_TRY(encode(start, out_.end()));
  Attempt& attempt = attempts_[start.attempt];
  for (Stream& stream : attempt.streams) stream.until = window_;
  return {};
}

Result<void> Client::kill(model::AttemptId attempt, bool at_once) {
  return encode(Kill{attempt, at_once}, out_.end());
}

Result<void> Client::ack(const std::vector<model::AttemptId>& attempts) {
  for (std::size_t i = 0; i < attempts.size(); i += kListingMax) {
    const std::size_t end = std::min(attempts.size(), i + kListingMax);
    Ack ack;
    for (std::size_t k = i; k < end; ++k) {
      ack.attempts.push_back(attempts[k]);
      attempts_.erase(attempts[k]);
    }
    HOSTLER_TRY(encode(ack, out_.end()));
  }
  return {};
}

Result<void> Client::blob_query(const std::string& sha256) {
  return encode(BlobQuery{sha256}, out_.end());
}

Result<void> Client::resume(model::AttemptId id, std::uint64_t stdout_durable,
                            std::uint64_t stderr_durable) {
  Attempt& attempt = attempts_[id];
  const std::uint64_t durable[2] = {stdout_durable, stderr_durable};
  for (std::uint32_t i = 0; i < 2; ++i) {
    Stream& stream = attempt.streams[i];
    stream.received = stream.durable = durable[i];
    stream.until = durable[i] + window_;
    HOSTLER_TRY(encode(Credit{id, i, stream.durable, stream.until}, out_.end()));
  }
  return {};
}

void Client::durable(model::AttemptId id, std::uint32_t index, std::uint64_t offset) {
  const auto found = attempts_.find(id);
  if (found == attempts_.end() || index >= found->second.streams.size()) return;
  Stream& stream = found->second.streams[index];
  // Files begin anew on a new connection: more of them may be here than was sent on this one.
  offset = std::min(offset, stream.received);
  if (offset <= stream.durable) return;
  stream.durable = offset;
  if (!stream.lost && !stream.is_done() && stream.until < stream.durable + window_ / 2)
    give_credit(id, index, stream);
  check_collected(id, found->second);
}

void Client::files_durable(model::AttemptId id) {
  const auto found = attempts_.find(id);
  if (found == attempts_.end() || !std::exchange(found->second.files_told, false)) return;
  check_collected(id, found->second);
}

void Client::give_up(model::AttemptId id, std::uint32_t index) {
  const auto found = attempts_.find(id);
  if (found == attempts_.end() || index >= found->second.streams.size()) return;
  Stream& stream = found->second.streams[index];
  stream.lost = true;
  stream.received = stream.durable;
  check_collected(id, found->second);
}

void Client::give_up_files(model::AttemptId id) {
  const auto found = attempts_.find(id);
  if (found == attempts_.end()) return;
  auto& streams = found->second.streams;
  for (std::size_t i = kFirstFile; i < streams.size(); ++i) streams[i].lost = true;
  files_durable(id);
}

void Client::give_credit(model::AttemptId id, std::uint32_t index, Stream& stream) {
  stream.until = stream.durable + window_;
  // A Credit has no field that could be too large.
  (void)encode(Credit{id, index, stream.durable, stream.until}, out_.end());
}

// ---- messages ----------------------------------------------------------------------------------

Result<void> Client::on_message(FromAgent&& message) {
  if (const auto* problem = std::get_if<Problem>(&message))
    return misbehaves("hung up, since: " + printable(problem->text));
  if (auto* hello = std::get_if<Hello>(&message)) {
    if (ready_ || is_ready_) return misbehaves("a second hello");
    if (hello->version != kProtocolVersion) {
      HOSTLER_TRY(quit());  // the next connection starts an agent of ours
      return misbehaves("speaks protocol " + std::to_string(hello->version) + ", not " +
                        std::to_string(kProtocolVersion));
    }
    ready_ = Ready{std::move(*hello), {}};
    return {};
  }
  if (!ready_ && !is_ready_) return misbehaves("the first message is not hello");
  if (auto* listing = std::get_if<Listing>(&message)) {
    if (is_ready_) return {};  // answers list(): the Exits that follow it are what counts
    auto& known = ready_->attempts;
    known.insert(known.end(), listing->known.begin(), listing->known.end());
    if (known.size() > kAttemptsMax) return misbehaves("lists too many attempts");
    if (!listing->last) return {};
    is_ready_ = held_ = true;
    events_.emplace_back(*std::exchange(ready_, std::nullopt));
    return {};
  }
  if (!is_ready_) return misbehaves("no listing after hello");
  if (auto* exit = std::get_if<Exit>(&message)) return on_exit(std::move(*exit));
  if (auto* output = std::get_if<Output>(&message)) return on_output(std::move(*output));
  if (auto* lost = std::get_if<OutputLost>(&message)) return on_output_lost(std::move(*lost));
  if (auto* files = std::get_if<Files>(&message)) return on_files(std::move(*files));
  if (auto* started = std::get_if<Started>(&message)) events_.emplace_back(*started);
  if (auto* refused = std::get_if<Refused>(&message)) {
    attempts_.erase(refused->attempt);
    events_.emplace_back(std::move(*refused));
  }
  if (auto* blob = std::get_if<BlobState>(&message)) events_.emplace_back(std::move(*blob));
  if (auto* broken = std::get_if<HostBroken>(&message)) events_.emplace_back(std::move(*broken));
  if (auto* notice = std::get_if<SpotNotice>(&message)) events_.emplace_back(std::move(*notice));
  if (auto* pong = std::get_if<Pong>(&message)) events_.emplace_back(*pong);
  return {};
}

Result<void> Client::on_exit(Exit&& exit) {
  const model::AttemptId id = exit.attempt;
  const model::AttemptEnd& end = exit.end;
  using model::EndReason;
  if (end.reason == EndReason::kNone || end.reason == EndReason::kHostLost ||
      end.reason == EndReason::kCancelled)
    return misbehaves("exit of " + id.text() + " with a reason that is not an agent's to give");
  if (end.stdout_bytes > kStreamMax || end.stderr_bytes > kStreamMax)
    return misbehaves("exit of " + id.text() + " with more output than can be");
  if (end.output_is_inline && (end.stdout_inline.size() != end.stdout_bytes ||
                               end.stderr_inline.size() != end.stderr_bytes))
    return misbehaves("exit of " + id.text() + " whose output is not as long as it says");
  const auto found = attempts_.find(id);
  if (found == attempts_.end()) return events_.emplace_back(std::move(exit)), Result<void>();
  Attempt& attempt = found->second;
  if (attempt.exited) return {};
  attempt.exited = true;
  const std::uint64_t size[2] = {end.stdout_bytes, end.stderr_bytes};
  for (std::uint32_t i = 0; i < 2; ++i) {
    Stream& stream = attempt.streams[i];
    if (size[i] < stream.received)
      return misbehaves("exit of " + id.text() + " with less output than it has sent");
    stream.size = size[i];
    if (!end.output_is_inline && !stream.lost && stream.durable < size[i] &&
        stream.until < stream.durable + window_ / 2)
      give_credit(id, i, stream);
  }
  attempt.files_wanted = end.has_output_files;
  announce_exit(std::move(exit), attempt);
  if (attempt.files_wanted) HOSTLER_TRY(encode(ListFiles{id}, out_.end()));
  check_collected(id, attempt);
  return {};
}

void Client::announce_exit(Exit&& exit, Attempt& attempt) {
  model::AttemptEnd& end = exit.end;
  auto& streams = attempt.streams;
  if (!end.output_is_inline) return events_.emplace_back(std::move(exit)), void();
  if (streams[kStdout].received == 0 && streams[kStderr].received == 0) {
    streams[kStdout].size = streams[kStderr].size = 0;  // the exit is what is to be made durable
    return events_.emplace_back(std::move(exit)), void();
  }
  // Some of it came as chunks before: so does the rest.
  const std::string rest[2] = {std::exchange(end.stdout_inline, {}),
                               std::exchange(end.stderr_inline, {})};
  end.output_is_inline = false;
  const model::AttemptId id = exit.attempt;
  events_.emplace_back(std::move(exit));
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint64_t from = streams[i].received;
    if (from == rest[i].size() || streams[i].lost) continue;
    events_.emplace_back(Chunk{id, i, from, 0, rest[i].substr(from)});
    streams[i].received = rest[i].size();
  }
}

Result<void> Client::on_output(Output&& output) {
  const auto found = attempts_.find(output.attempt);
  if (found == attempts_.end()) return {};  // acknowledged while it was under way
  if (output.stream >= found->second.streams.size())
    return misbehaves("output of " + output.attempt.text() + " on a stream that it does not have");
  Stream& stream = found->second.streams[output.stream];
  if (stream.lost) return {};  // given up while it was under way
  if (output.offset < stream.received)
    return misbehaves("output of " + output.attempt.text() + " goes back");
  const std::uint64_t gap = output.offset - stream.received;
  const std::uint64_t end = output.offset + output.data.size();
  if (output.offset > kStreamMax || end > kStreamMax || (stream.size && end > *stream.size))
    return misbehaves("output of " + output.attempt.text() + " is longer than it says");
  // Between the begin and the end that are kept of an ended stream there is one gap. More of them
  // are a host's way to keep the store busy.
  if (gap > 0 &&
      (output.stream >= kFirstFile || !stream.size || std::exchange(stream.has_gap, true)))
    return misbehaves("output of " + output.attempt.text() + " leaves out what was kept");
  if (output.data.empty()) {
    if (gap == 0 || end != *stream.size)
      return misbehaves("output of " + output.attempt.text() + " has a piece without bytes");
    stream.size = stream.received;  // No end of it is kept.
    events_.emplace_back(Chunk{output.attempt, output.stream, output.offset, gap, {}});
    check_collected(found->first, found->second);
    return {};
  }
  // A gap uses no credit: its bytes are nowhere. Both sides move their windows over it; the agent
  // learns ours anew, since a Credit may have crossed the piece.
  stream.until += gap;
  if (end > stream.until)
    return misbehaves("output of " + output.attempt.text() + " past its credit");
  stream.received = end;
  if (gap > 0)
    HOSTLER_TRY(
        encode(Credit{output.attempt, output.stream, stream.durable, stream.until}, out_.end()));
  events_.emplace_back(
      Chunk{output.attempt, output.stream, output.offset, gap, std::move(output.data)});
  return {};
}

Result<void> Client::on_output_lost(OutputLost&& lost) {
  const auto found = attempts_.find(lost.attempt);
  if (found == attempts_.end()) return {};
  if (lost.stream >= found->second.streams.size())
    return misbehaves("lost output of " + lost.attempt.text() + " on a stream it does not have");
  Stream& stream = found->second.streams[lost.stream];
  stream.lost = true;
  events_.emplace_back(std::move(lost));
  check_collected(found->first, found->second);
  return {};
}

Result<void> Client::on_files(Files&& files) {
  const auto found = attempts_.find(files.attempt);
  if (found == attempts_.end()) return {};
  Attempt& attempt = found->second;
  if (!attempt.files_wanted) return misbehaves("files of " + files.attempt.text() + " unasked");
  if (attempt.files.size() + files.files.size() > kFilesMax)
    return misbehaves("too many files of " + files.attempt.text());
  std::move(files.files.begin(), files.files.end(), std::back_inserter(attempt.files));
  if (!files.last) return {};
  attempt.files_wanted = false;
  attempt.files_told = true;
  for (const OutputFile& file : attempt.files) {
    if (file.size > kStreamMax)
      return misbehaves("a file of " + files.attempt.text() + " that is larger than can be");
    Stream& stream = attempt.streams.emplace_back();
    stream.size = file.problem.empty() ? file.size : 0;
  }
  files.files = std::exchange(attempt.files, {});
  events_.emplace_back(std::move(files));
  return {};
}

void Client::check_collected(model::AttemptId id, Attempt& attempt) {
  if (!attempt.exited || attempt.files_wanted || attempt.files_told || attempt.collected) return;
  for (std::uint32_t i = 0; i < attempt.streams.size(); ++i) {
    Stream& stream = attempt.streams[i];
    if (stream.is_done()) continue;
    // Files come one after the other, so that a thousand of them need one window.
    if (i >= kFirstFile && stream.until == 0) give_credit(id, i, stream);
    return;
  }
  attempt.collected = true;
  events_.emplace_back(Collected{id});
}

}  // namespace hostler::agent
