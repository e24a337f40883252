#include "core/agent/host/server/card_reader.h"

#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "core/agent/host/server/card_errors.h"

namespace hostler::agent {
namespace {

constexpr std::int64_t kReadingIntervalUs = 60'000'000;
constexpr std::uint64_t kReadingMaxUs = 600'000'000;

int exit_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::int64_t reading_us(const Configure& configure) {
  return static_cast<std::int64_t>(std::min(configure.cards_timeout_us, kReadingMaxUs));
}

void end_line(std::string& text) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
}

/// nvidia-smi lists the cards that answer, and names others on its standard error. It does not know
/// what the kernel's log says of them.
std::string nvidia_text(HostCommand::Outcome outcome, const std::string& kernel_log) {
  end_line(outcome.errors);
  std::string text = outcome.errors + outcome.output;
  const std::string errors = read_card_errors(kernel_log);
  if (!errors.empty()) end_line(text);
  return text + errors;
}

}  // namespace

CardReader::CardReader(CardRoots roots, std::string folders)
    : roots_(std::move(roots)), folders_(std::move(folders)) {}

void CardReader::configure(const Configure& configure, model::CardGuard guard, std::int64_t now) {
  stop();
  configured_ = configure;
  guard_ = guard;
  next_ = now;
  end_at_ = now + reading_us(configure);
}

void CardReader::stop() {
  command_.kill();
  is_over_ = true;
  configured_.reset();
  told_.reset();
}

void CardReader::begin(std::int64_t now) {
  auto tool = find_card_tool(configured_->cards_command, folders_);
  tool_ = tool.tool;
  if (tool_ == Cards::Tool::kNone) return end({}, now);
  // A byte more than is told, to see that there is more.
  if (command_.start(std::move(tool.command), HostCommand::Errors::kApart,
                     now + reading_us(*configured_), kCardsTextMax + 1)) {
    is_over_ = false;
    return;
  }
  HostCommand::Outcome failed;
  failed.status = 127 << 8U;
  failed.errors = "the agent could not start it";
  end(std::move(failed), now);
}

void CardReader::end(HostCommand::Outcome outcome, std::int64_t now) {
  Cards out;
  out.tool = tool_;
  out.timed_out = outcome.timed_out;
  out.status = outcome.timed_out ? 0 : exit_status(outcome.status);
  out.text = tool_ == Cards::Tool::kNvidia ? nvidia_text(std::move(outcome), roots_.log)
             : outcome.output.empty()      ? std::move(outcome.errors)
                                           : std::move(outcome.output);
  out.cut = out.text.size() > kCardsTextMax;
  out.text.resize(std::min(out.text.size(), kCardsTextMax));
  out.files = find_card_files(roots_);
  out.guard = guard_;
  next_ = now + kReadingIntervalUs;
  is_over_ = true;
  told_ = std::move(out);
}

void CardReader::tick(std::int64_t now) {
  const bool was_killed = command_.kill_overdue(now);
  if (!configured_) return;
  if (was_killed && !is_over_) {
    end(command_.read_printed(), now);
  } else if (now >= next_ && !command_.is_running()) {
    begin(now);
  } else if (now >= next_ && now >= end_at_ && is_over_) {
    // The tool of an earlier reading does not end, though it was killed.
    HostCommand::Outcome stuck;
    stuck.timed_out = true;
    end(std::move(stuck), now);
  }
}

std::int64_t CardReader::due() const {
  if (!configured_) return INT64_MAX;
  if (!command_.is_running()) return next_;
  return is_over_ ? std::max(next_, end_at_) : command_.due();
}

bool CardReader::on_exit(pid_t pid, int status, std::int64_t now) {
  if (!command_.is_running() || command_.pid() != pid) return false;
  HostCommand::Outcome outcome = command_.finish(status);
  if (configured_ && !is_over_) end(std::move(outcome), now);
  return true;
}

std::optional<Cards> CardReader::take() { return std::exchange(told_, std::nullopt); }

void CardReader::add_pids(std::set<pid_t>& out) const {
  if (command_.is_running()) out.insert(command_.pid());
}

}  // namespace hostler::agent
