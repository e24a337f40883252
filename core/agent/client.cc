#include "core/agent/client.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/agent/bounds.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

constexpr std::size_t kPreambleMax = std::size_t{64} << 10;
constexpr std::size_t kFilesMax = 10'000;

tl::unexpected<Error> misbehaves(std::string text) {
  return fail(Errc::kMisbehaving, "agent: " + std::move(text));
}

/// Ids of a host are stored and shown.
bool is_plain_id(const std::string& id) {
  return std::ranges::all_of(id, [](char c) { return c > ' ' && c <= '~'; });
}

/// What the message says of the size of the host, which Ready passes on; null: nothing.
const char* take_size(const FromAgent& message, std::optional<Ready>& ready) {
  const auto* scratch = std::get_if<Scratch>(&message);
  const auto* ram = std::get_if<Ram>(&message);
  if (ready && scratch != nullptr) ready->scratch = scratch->bytes;
  if (ready && ram != nullptr) ready->ram = ram->bytes;
  return scratch != nullptr ? "a scratch" : ram != nullptr ? "a RAM" : nullptr;
}

}  // namespace

Result<void> Client::receive(std::string_view bytes) {
  if (problem_) return tl::unexpected(*problem_);
  if (!greeted_) HOSTLER_TRY(skip_to_greeting(bytes));
  if (!greeted_) return {};
  decoder_.feed(bytes);
  if (ready_returned_) is_paused_ = false;
  return decode();
}

/// Pauses after Ready until the caller has seen it. The caller resumes attempts then, and their
/// exits and output, which may already have arrived, must be decoded afterwards.
Result<void> Client::decode() {
  while (!is_paused_) {
    auto message = decoder_.next();
    if (!message) return misbehaves(message.error().message);
    if (!*message) return {};
    HOSTLER_TRY(on_message(**std::move(message)));
  }
  return {};
}

Result<void> Client::skip_to_greeting(std::string_view& bytes) {
  preamble_.append(bytes);
  const std::size_t at = preamble_.find(kGreeting);
  if (at == std::string::npos) {
    if (preamble_.size() > kPreambleMax)
      return misbehaves("no greeting in " + std::to_string(preamble_.size()) +
                        " bytes; the login shell printed: " + printable(preamble_));
    bytes = {};
    return {};
  }
  greeted_ = true;
  const std::size_t rest = preamble_.size() - at - kGreeting.size();
  bytes.remove_prefix(bytes.size() - rest);
  preamble_.clear();
  return {};
}

std::optional<Event> Client::next() {
  if (ready_returned_ && is_paused_ && !problem_) {
    is_paused_ = false;
    if (auto decoded = decode(); !decoded) problem_ = std::move(decoded).error();
  }
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  if (std::holds_alternative<Ready>(event)) ready_returned_ = true;
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

// ---- messages ----------------------------------------------------------------------------------
Result<void> Client::on_message(FromAgent&& message) {
  if (const auto* problem = std::get_if<Problem>(&message))
    return fail(Errc::kUnavailable, "agent: closed the connection: " + printable(problem->text));
  if (const Bounded checked = bound(message); !checked.problem.empty()) {
    doubt("it reported " + checked.problem);
    if (checked.is_void) return {};
  }
  if (auto* hello = std::get_if<Hello>(&message)) {
    if (ready_ || is_ready_) return misbehaves("a second hello");
    if (hello->version != kProtocolVersion) {
      HOSTLER_TRY(quit());  // the next connection starts an agent of our version
      return misbehaves("uses protocol version " + std::to_string(hello->version) + ", not " +
                        std::to_string(kProtocolVersion));
    }
    if (!is_plain_id(hello->boot_id) || !is_plain_id(hello->state_id))
      return misbehaves("has a boot id or a state id that is not plain text");
    ready_ = Ready{std::move(*hello), {}};
    return {};
  }
  if (!ready_ && !is_ready_) return misbehaves("the first message is not hello");
  if (const char* size = take_size(message, ready_))
    return is_listed_ ? misbehaves(size + std::string(" after the listing")) : Result<void>();
  const bool is_listing = std::holds_alternative<Listing>(message);
  if (!is_ready_ && (is_listing || std::holds_alternative<Cards>(message)))
    return on_introduction(std::move(message));
  if (is_listing) return {};  // the answer to list(): only the Exits that follow it matter
  if (!is_ready_ && std::holds_alternative<Pong>(message)) return {};
  if (!is_listed_) return misbehaves("no listing after hello");
  if (!is_ready_) return misbehaves("no cards after the listing");
  if (auto* exit = std::get_if<Exit>(&message)) return on_exit(std::move(*exit));
  if (auto* output = std::get_if<Output>(&message)) return on_output(std::move(*output));
  if (auto* lost = std::get_if<OutputLost>(&message)) return on_output_lost(std::move(*lost));
  if (auto* files = std::get_if<Files>(&message)) return on_files(std::move(*files));
  if (auto* started = std::get_if<Started>(&message)) events_.emplace_back(*started);
  if (auto* refused = std::get_if<Refused>(&message)) return on_refused(std::move(*refused));
  if (auto* blob = std::get_if<BlobState>(&message)) events_.emplace_back(std::move(*blob));
  if (auto* broken = std::get_if<HostBroken>(&message)) events_.emplace_back(std::move(*broken));
  if (auto* notice = std::get_if<SpotNotice>(&message)) events_.emplace_back(std::move(*notice));
  if (auto* pong = std::get_if<Pong>(&message)) events_.emplace_back(*pong);
  if (auto* cards = std::get_if<Cards>(&message)) events_.emplace_back(std::move(*cards));
  return {};
}

Result<void> Client::on_introduction(FromAgent&& message) {
  if (auto* cards = std::get_if<Cards>(&message)) {
    ready_->cards = std::move(*cards);
  } else if (auto* listing = std::get_if<Listing>(&message)) {
    if (is_listed_) return misbehaves("a second listing");
    auto& known = ready_->attempts;
    std::move(listing->known.begin(), listing->known.end(), std::back_inserter(known));
    if (known.size() > kAttemptsMax) return misbehaves("lists too many attempts");
    is_listed_ = listing->last;
  }
  if (ready_->cards) report_ready();
  return {};
}

void Client::report_ready() {
  if (!ready_ || !is_listed_) return;
  is_ready_ = is_paused_ = true;
  events_.emplace_back(*std::exchange(ready_, std::nullopt));
  if (!doubt_.empty()) events_.emplace_back(HostBroken{kReport, doubt_});
}

/// The first value of a connection says enough: the host is broken then. Ready comes before it.
void Client::doubt(std::string problem) {
  if (!doubt_.empty()) return;
  doubt_ = std::move(problem);
  if (is_ready_) events_.emplace_back(HostBroken{kReport, doubt_});
}

/// A stream whose size cannot be is lost: what has arrived of it is all.
std::array<bool, 2> Client::drop_impossible_streams(Exit& exit) {
  model::AttemptEnd& end = exit.end;
  const std::array<bool, 2> lost{end.stdout_bytes > kStreamMax, end.stderr_bytes > kStreamMax};
  if (!lost[0] && !lost[1]) return lost;
  const std::uint64_t size = lost[0] ? end.stdout_bytes : end.stderr_bytes;
  doubt("it reported " + std::to_string(size) + " bytes of output for " + exit.attempt.text());
  const auto found = attempts_.find(exit.attempt);
  for (std::uint32_t i = 0; i < 2; ++i) {
    if (!lost[i]) continue;
    (i == kStdout ? end.stdout_bytes : end.stderr_bytes) =
        found == attempts_.end() ? 0 : found->second.streams[i].received;
  }
  end.stdout_inline.clear();
  end.stderr_inline.clear();
  end.output_is_inline = false;
  return lost;
}

Result<void> Client::on_exit(Exit&& exit) {
  const model::AttemptId id = exit.attempt;
  const auto lost = drop_impossible_streams(exit);
  const model::AttemptEnd& end = exit.end;
  using model::EndReason;
  if (end.reason == EndReason::kNone || end.reason == EndReason::kHostLost ||
      end.reason == EndReason::kCancelled)
    return misbehaves("exit of " + id.text() + " with a reason that only the daemon may give");
  if (end.output_is_inline && (end.stdout_inline.size() != end.stdout_bytes ||
                               end.stderr_inline.size() != end.stderr_bytes))
    return misbehaves("exit of " + id.text() +
                      ": its inline output has another length than stated");
  if (never_started(end)) {
    if (end.stdout_bytes + end.stderr_bytes > 0 || end.has_output_files)
      return misbehaves("exit of " + id.text() + ": it never started and has output");
    return on_refused({id, Refused::Why::kInternal, end.text});
  }
  const auto found = attempts_.find(id);
  if (found == attempts_.end()) return events_.emplace_back(std::move(exit)), Result<void>();
  Attempt& attempt = found->second;
  if (attempt.exited) return {};
  attempt.exited = true;
  const std::uint64_t size[2] = {end.stdout_bytes, end.stderr_bytes};
  for (std::uint32_t i = 0; i < 2; ++i) {
    Stream& stream = attempt.streams[i];
    if (size[i] < stream.received)
      return misbehaves("exit of " + id.text() + " states less output than was sent");
    stream.size = size[i];
    if (!end.output_is_inline && !attempt.held && wants_credit(stream)) give_credit(id, i, stream);
  }
  attempt.files_requested = end.has_output_files;
  report_exit(std::move(exit), attempt);
  if (attempt.files_requested) HOSTLER_TRY(encode(ListFiles{id}, out_.end()));
  for (std::uint32_t i = 0; i < 2; ++i)
    if (lost[i]) HOSTLER_TRY(on_output_lost({id, i, "its host reported an impossible size"}));
  check_collected(id, attempt);
  return {};
}

Result<void> Client::on_refused(Refused&& refused) {
  if (const auto found = attempts_.find(refused.attempt); found != attempts_.end()) {
    for (const Stream& stream : found->second.streams)
      if (stream.received > 0)
        return misbehaves("says that " + refused.attempt.text() + " never started, after output");
    attempts_.erase(found);
  }
  events_.emplace_back(std::move(refused));
  return {};
}

void Client::report_exit(Exit&& exit, Attempt& attempt) {
  model::AttemptEnd& end = exit.end;
  auto& streams = attempt.streams;
  if (!end.output_is_inline) return events_.emplace_back(std::move(exit)), void();
  if (streams[kStdout].received == 0 && streams[kStderr].received == 0) {
    // The daemon stores this output with the exit.
    streams[kStdout].size = streams[kStderr].size = 0;
    return events_.emplace_back(std::move(exit)), void();
  }
  // A part of the output has been reported as Chunks, so the rest is, too.
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
  if (found == attempts_.end()) return {};  // the daemon has acknowledged the attempt meanwhile
  if (output.stream >= found->second.streams.size())
    return misbehaves("output of " + output.attempt.text() + " on an unknown stream");
  Stream& stream = found->second.streams[output.stream];
  if (stream.lost) return {};  // the daemon has given up the stream meanwhile
  if (output.offset < stream.received)
    return misbehaves("output of " + output.attempt.text() + " repeats bytes");
  const std::uint64_t gap = output.offset - stream.received;
  const std::uint64_t end = output.offset + output.data.size();
  if (output.offset > kStreamMax || end > kStreamMax || (stream.size && end > *stream.size))
    return misbehaves("output of " + output.attempt.text() + " up to byte " + std::to_string(end) +
                      " is longer than stated");
  // Only an ended stream can have a gap, and only one, between its head and its tail. A hostile
  // host could keep the store busy with many gaps.
  if (gap > 0 &&
      (output.stream >= kFirstFile || !stream.size || std::exchange(stream.has_gap, true)))
    return misbehaves("output of " + output.attempt.text() + " has a gap where bytes were kept");
  if (output.data.empty()) {
    if (gap == 0 || end != *stream.size)
      return misbehaves("output of " + output.attempt.text() + " has an empty piece");
    stream.size = stream.received;  // the rest of the stream was not kept
    events_.emplace_back(Chunk{output.attempt, output.stream, output.offset, gap, {}});
    check_collected(found->first, found->second);
    return {};
  }
  // A gap uses no credit, so the window moves by its length. The agent is sent the new window,
  // because an earlier Credit may have crossed this piece.
  stream.until += gap;
  if (end > stream.until)
    return misbehaves("output of " + output.attempt.text() + " exceeds its credit");
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
    return misbehaves("lost output of " + lost.attempt.text() + " on an unknown stream");
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
  if (!attempt.files_requested)
    return misbehaves("files of " + files.attempt.text() + " were not requested");
  if (attempt.files.size() + files.files.size() > kFilesMax)
    return misbehaves("lists too many files of " + files.attempt.text());
  std::move(files.files.begin(), files.files.end(), std::back_inserter(attempt.files));
  if (!files.last) return {};
  attempt.files_requested = false;
  attempt.files_reported = true;
  for (const OutputFile& file : attempt.files) {
    Stream& stream = attempt.streams.emplace_back();
    stream.size = file.problem.empty() ? file.size : 0;
  }
  files.files = std::exchange(attempt.files, {});
  events_.emplace_back(std::move(files));
  return {};
}

}  // namespace hostler::agent
