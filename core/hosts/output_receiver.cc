#include "core/hosts/output_receiver.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "core/base/text.h"
#include "core/log/log.h"

namespace hostler::hosts {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kLossTextMax = 2000;

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
    : io_(io), host_(host), client_(client), on_progress_(std::move(on_progress)) {}

void OutputReceiver::on_chunk(agent::Chunk& chunk) {
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
    client_.durable(attempt, stream, *end);
  } else {
    add_loss(attempt, stream_name(stream) + ": " + end.error().message);
    client_.give_up(attempt, stream);
  }
  on_progress_();
}

void OutputReceiver::on_files(const agent::Files& files) {
  for (const auto& file : files.files)
    if (!file.problem.empty())
      add_loss(files.attempt, printable(file.path, 100) + ": " + file.problem);
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
  std::string lost;
  if (auto found = losses_.extract(collected.attempt)) lost = std::move(found.mapped());
  host_.report(model::AttemptCollected{collected.attempt, std::move(lost)});
}

void OutputReceiver::ack(model::AttemptId attempt) {
  losses_.erase(attempt);
  acks_.push_back(attempt);
}

void OutputReceiver::send_acks() {
  if (acks_.empty()) return;
  if (const auto sent = client_.ack(std::exchange(acks_, {})); !sent)
    log::warn(host_.name(), sent.error().message);
}

}  // namespace hostler::hosts
