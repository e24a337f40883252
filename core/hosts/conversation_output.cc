#include <boost/asio/post.hpp>
#include <utility>

#include "core/base/text.h"
#include "core/hosts/conversation.h"

/// Output and files of attempts: into the store, and acknowledged once they are durable there. What
/// cannot be kept is given up with its reason, so that no attempt waits for it.
namespace hostler::hosts {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kLostTextMax = 2000;

/// What failed for want of room, or because the store is closing, is not lost: the host keeps it.
template <class Value>
bool comes_again(const Result<Value>& kept) {
  return !kept && kept.error().code == Errc::kUnavailable;
}

std::string name_of(std::uint32_t stream) {
  if (stream == agent::kStdout) return "standard output";
  if (stream == agent::kStderr) return "standard error";
  return "output file " + std::to_string(stream - agent::kFirstFile + 1);
}

}  // namespace

void Conversation::take(agent::Chunk& chunk) {
  const auto attempt = chunk.attempt;
  const auto stream = chunk.stream;
  auto stored = [self = weak_from_this(), attempt, stream,
                 &io = io_](const Result<std::uint64_t>& end) {
    if (comes_again(end)) return;
    asio::post(io, [self, attempt, stream, end] {
      if (const auto here = self.lock()) here->stored(attempt, stream, end);
    });
  };
  ports_->append_output(attempt, stream, chunk.offset, std::move(chunk.data), std::move(stored));
}

void Conversation::stored(model::AttemptId attempt, std::uint32_t stream,
                          const Result<std::uint64_t>& end) {
  if (ended_) return;
  if (end) {
    client_.durable(attempt, stream, *end);
  } else {
    lose(attempt, name_of(stream) + ": " + end.error().message);
    client_.give_up(attempt, stream);
  }
  take_events();
  wake_writer();
}

void Conversation::take(const agent::Files& files) {
  for (const auto& file : files.files)
    if (!file.problem.empty()) lose(files.attempt, printable(file.path, 100) + ": " + file.problem);
  auto listed = [self = weak_from_this(), attempt = files.attempt,
                 &io = io_](const Result<void>& kept) {
    if (comes_again(kept)) return;
    asio::post(io, [self, attempt, kept] {
      if (const auto here = self.lock()) here->listed(attempt, kept);
    });
  };
  ports_->output_files(files.attempt, files.files, std::move(listed));
}

void Conversation::listed(model::AttemptId attempt, const Result<void>& kept) {
  if (ended_) return;
  if (kept) {
    client_.files_durable(attempt);
  } else {
    lose(attempt, "the list of its files: " + kept.error().message);
    client_.give_up_files(attempt);
  }
  take_events();
  wake_writer();
}

void Conversation::lose(model::AttemptId attempt, const std::string& what) {
  std::string& text = lost_[attempt];
  const std::string one = printable(what);
  // All pieces of a stream that are under way fail alike.
  if (text.size() > kLostTextMax || text.ends_with(one)) return;
  text += (text.empty() ? "" : "; ") + one;
  if (text.size() > kLostTextMax) text += "; and more";
}

void Conversation::take(const agent::Collected& collected) {
  std::string lost;
  if (auto found = lost_.extract(collected.attempt)) lost = std::move(found.mapped());
  post(model::AttemptCollected{collected.attempt, std::move(lost)});
}

}  // namespace hostler::hosts
