#include "core/hosts/output_receiver.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/log/log.h"

namespace hostler::hosts {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kLossTextMax = 2000;
constexpr std::chrono::seconds kLookAgain{2};

/// The store had no room or is closing: the host keeps the output and sends it again some day.
template <class Value>
bool comes_again(const Result<Value>& stored) {
  return !stored && stored.error().code == Errc::kUnavailable;
}

std::string stream_name(std::uint32_t stream) {
  if (stream == agent::kStdout) return "standard output";
  if (stream == agent::kStderr) return "standard error";
  return "output file " + std::to_string(stream - agent::kFirstFile + 1);
}

}  // namespace

OutputReceiver::OutputReceiver(asio::io_context& io, HostContext& host, agent::Client& client,
                               std::function<void()> on_progress)
    : io_(io), host_(host), client_(client), on_progress_(std::move(on_progress)), timer_(io) {}

void OutputReceiver::on_exit(model::AttemptId attempt, const model::AttemptEnd& end) {
  paused_.erase(attempt);
  if ((end.output_is_inline && !end.has_output_files) || !client_.hold(attempt, true)) return;
  const std::uint64_t most = host_.settings->output_head_max + host_.settings->output_tail_max;
  Fetch& fetch = fetches_[attempt];
  if (!end.output_is_inline)
    fetch.size = std::min(end.stdout_bytes, most) + std::min(end.stderr_bytes, most);
  decide(attempt, fetch);
  look_again_soon();
}

void OutputReceiver::decide(model::AttemptId attempt, Fetch& fetch) {
  fetch.here = std::min(fetch.size, host_.ports->kept_output(attempt));
  fetch.goes_on = host_.room->admit(attempt, fetch.size - fetch.here);
  client_.hold(attempt, !fetch.goes_on);
}

void OutputReceiver::look_again_soon() {
  if (std::exchange(looks_again_, true)) return;
  timer_.expires_after(kLookAgain);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& cancelled) {
    const auto self = weak.lock();
    if (self && !cancelled) self->look_again();
  });
}

void OutputReceiver::look_again() {
  looks_again_ = false;
  if (!paused_.empty() && host_.room->has_room_to_stream())
    for (const auto attempt : std::exchange(paused_, {})) client_.hold(attempt, false);
  for (auto& [attempt, fetch] : fetches_) {
    decide(attempt, fetch);
    tell(attempt, fetch);
  }
  if (!paused_.empty() || !fetches_.empty()) look_again_soon();
  on_progress_();
}

void OutputReceiver::tell(model::AttemptId attempt, Fetch& fetch) {
  const bool waits = !fetch.goes_on || (client_.not_durable(attempt) > 0 && host_.room->is_full());
  const model::OutputProgress progress{attempt, fetch.here,     fetch.size,
                                       waits,   fetch.received, client_.not_durable(attempt) == 0};
  if (fetch.told == progress) return;
  fetch.told = progress;
  host_.report(progress);
}

void OutputReceiver::forget(model::AttemptId attempt) {
  paused_.erase(attempt);
  fetches_.erase(attempt);
  host_.room->release(attempt);
}

void OutputReceiver::stop() {
  timer_.cancel();
  for (const auto& [attempt, fetch] : fetches_) host_.room->release(attempt);
  fetches_.clear();
  paused_.clear();
}

void OutputReceiver::on_chunk(agent::Chunk& chunk) {
  if (const auto found = fetches_.find(chunk.attempt); found != fetches_.end())
    found->second.received += chunk.data.size();
  auto durable = [weak = weak_from_this(), attempt = chunk.attempt, stream = chunk.stream,
                  &io = io_](const Result<std::uint64_t>& end) {
    if (comes_again(end)) return;
    asio::post(io, [weak, attempt, stream, end] {
      if (const auto self = weak.lock()) self->on_stored(attempt, stream, end);
    });
  };
  host_.ports->append_output(chunk.attempt, chunk.stream, chunk.offset, std::move(chunk.data),
                             std::move(durable));
}

void OutputReceiver::on_stored(model::AttemptId attempt, std::uint32_t stream,
                               const Result<std::uint64_t>& end) {
  if (end) {
    if (!fetches_.contains(attempt) && !host_.room->has_room_to_stream() &&
        client_.hold(attempt, true)) {
      paused_.insert(attempt);
      look_again_soon();
    }
    client_.durable(attempt, stream, *end);
  } else {
    add_loss(attempt, stream_name(stream) + ": " + end.error().message);
    client_.give_up(attempt, stream);
  }
  on_progress_();
}

void OutputReceiver::on_files(const agent::Files& files) {
  std::uint64_t size = 0;
  for (const auto& file : files.files) {
    if (!file.problem.empty())
      add_loss(files.attempt, printable(file.path, 100) + ": " + file.problem);
    size += file.problem.empty() ? std::min(file.size, agent::kFilesBytesMax + 1) : 0;
  }
  if (size > agent::kFilesBytesMax) {
    add_loss(files.attempt, "its host lists more files than " +
                                format_size(static_cast<std::int64_t>(agent::kFilesBytesMax)));
    client_.give_up_files(files.attempt);
    return;
  }
  if (const auto found = fetches_.find(files.attempt); found != fetches_.end()) {
    found->second.size += size;
    decide(files.attempt, found->second);
  }
  auto durable = [weak = weak_from_this(), attempt = files.attempt,
                  &io = io_](const Result<void>& stored) {
    if (comes_again(stored)) return;
    asio::post(io, [weak, attempt, stored] {
      if (const auto self = weak.lock()) self->on_files_stored(attempt, stored);
    });
  };
  host_.ports->output_files(files.attempt, files.files, std::move(durable));
}

void OutputReceiver::on_files_stored(model::AttemptId attempt, const Result<void>& stored) {
  if (stored) {
    client_.files_durable(attempt);
  } else {
    add_loss(attempt, "the list of its files: " + stored.error().message);
    client_.give_up_files(attempt);
  }
  on_progress_();
}

void OutputReceiver::add_loss(model::AttemptId attempt, const std::string& what) {
  std::string& text = losses_[attempt];
  const std::string one = printable(what);
  // All pieces of a stream that are under way fail with the same error.
  if (text.size() > kLossTextMax || text.ends_with(one)) return;
  text += (text.empty() ? "" : "; ") + one;
  if (text.size() > kLossTextMax) text += "; and more";
}

void OutputReceiver::on_collected(const agent::Collected& collected) {
  forget(collected.attempt);
  std::string lost;
  if (auto found = losses_.extract(collected.attempt)) lost = std::move(found.mapped());
  host_.report(model::AttemptCollected{collected.attempt, std::move(lost)});
}

void OutputReceiver::ack(model::AttemptId attempt) {
  losses_.erase(attempt);
  forget(attempt);
  acks_.push_back(attempt);
}

void OutputReceiver::send_acks() {
  if (acks_.empty()) return;
  if (const auto sent = client_.ack(std::exchange(acks_, {})); !sent)
    log::warn(host_.name(), sent.error().message);
}

}  // namespace hostler::hosts
