#include "core/agent/bounds.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace hostler::agent {
namespace {

using model::EndReason;

constexpr std::int32_t kStatusMax = 255;
constexpr std::int32_t kSignalMax = 64;
constexpr unsigned kModeMax = 0777;

bool is_time(std::int64_t us) { return us >= 0 && us <= kTimeLast; }

bool is_attempt(const model::AttemptId& id) {
  return id.work.value > 0 && id.work.value <= INT64_MAX && id.number > 0;
}

/// Collects what is wrong with one message.
class Finder {
 public:
  void found(std::string problem) {
    if (out_.problem.empty()) out_.problem = std::move(problem);
  }
  template <class T>
  void found(const char* what, T value, const std::string& of = "") {
    found(what + (" of " + std::to_string(value)) + (of.empty() ? "" : " for " + of));
  }
  bool knows(const model::AttemptId& id) {
    if (is_attempt(id)) return true;
    found("attempt " + id.text());
    out_.is_void = true;
    return false;
  }
  void drop() { out_.is_void = true; }
  Bounded take() { return std::move(out_); }

 private:
  Bounded out_;
};

bool is_status(const model::AttemptEnd& end) {
  const std::int32_t lowest =
      end.reason == EndReason::kStartFailed || end.reason == EndReason::kInputFailed ? kNeverStarted
                                                                                     : 0;
  return end.exit_code >= lowest && end.exit_code <= kStatusMax;
}

bool is_signal(const model::AttemptEnd& end) {
  return end.signal >= (end.reason == EndReason::kSignal ? 1 : 0) && end.signal <= kSignalMax;
}

void check(Finder& finder, const model::AttemptId& id, model::AttemptEnd& end) {
  if (!is_status(end) || !is_signal(end)) {
    if (!is_status(end))
      finder.found("an exit status", end.exit_code, id.text());
    else
      finder.found("a signal", end.signal, id.text());
    end.reason = EndReason::kSupervisionLost;
    end.exit_code = end.signal = 0;
    end.text = "its host reported " + Finder(finder).take().problem;
  }
  const auto amount = [&](const char* what, std::int64_t& value, std::int64_t max) {
    if (value >= 0 && value <= max) return;
    finder.found(what, value, id.text());
    value = 0;
  };
  amount("a cpu time (microseconds)", end.cpu_us, kCpuMax);
  amount("a RAM peak", end.ram_peak, kRamMax);
  if (is_time(end.started.us) && is_time(end.ended.us)) return;
  if (!is_time(end.started.us))
    finder.found("a start (microseconds since 1970)", end.started.us, id.text());
  else
    finder.found("an end (microseconds since 1970)", end.ended.us, id.text());
  end.started.us = end.ended.us = kTimeLast;
}

void check(Finder& finder, Hello& hello) {
  if (hello.last_sequence <= kSequenceMax) return;
  finder.found("a last sequence number", hello.last_sequence);
  hello.last_sequence = 0;
}

void check(Finder& finder, Scratch& scratch) {
  if (scratch.bytes >= 0 && scratch.bytes <= kScratchMax) return;
  finder.found("a scratch (bytes)", scratch.bytes);
  finder.drop();
}

void check(Finder& finder, Ram& ram) {
  if (ram.bytes > 0 && ram.bytes <= kRamMax) return;
  finder.found("a RAM (bytes)", ram.bytes);
  finder.drop();
}

bool is_path(const std::string& path) {
  return path.starts_with('/') &&
         std::ranges::all_of(path, [](char c) { return c > ' ' && c <= '~'; });
}

void check(Finder& finder, Cards& cards) {
  if (cards.status < 0 || cards.status > kStatusMax) {
    finder.found("an exit status", cards.status, "the reading of its cards");
    cards.status = kStatusMax;
  }
  std::erase_if(cards.files, [&](const Cards::File& file) {
    if (is_path(file.path) && (file.bus.empty() || is_path("/" + file.bus))) return false;
    finder.found("a device file \"" + printable(file.path, 80) + "\" at \"" +
                 printable(file.bus, 80) + "\"");
    return true;
  });
}

void check(Finder& finder, Listing& listing) {
  std::erase_if(listing.known, [&](const Known& one) { return !finder.knows(one.attempt); });
  for (Known& one : listing.known)
    std::erase_if(one.cards, [&](const std::string& uuid) {
      if (model::is_card_uuid(uuid)) return false;
      finder.found("a card \"" + printable(uuid, 80) + "\" of " + one.attempt.text());
      return true;
    });
}

void check(Finder& finder, Started& started) {
  if (!finder.knows(started.attempt) || is_time(started.started_us)) return;
  finder.found("a start (microseconds since 1970)", started.started_us, started.attempt.text());
  started.started_us = kTimeLast;
}

void check(Finder& finder, Exit& exit) {
  if (finder.knows(exit.attempt)) check(finder, exit.attempt, exit.end);
}

void check(Finder& finder, Files& files) {
  if (!finder.knows(files.attempt)) return;
  for (OutputFile& file : files.files) {
    if (file.mode > kModeMax) {
      finder.found("a file mode", file.mode, files.attempt.text());
      file.mode &= kModeMax;
    }
    if (file.size <= kStreamMax) continue;
    finder.found("a file size", file.size, files.attempt.text());
    file.problem = "its host reported a size of " + std::to_string(file.size);
    file.size = 0;
  }
}

/// The rest has no number but perhaps that of an attempt.
template <class Message>
void check(Finder& finder, Message& message) {
  if constexpr (requires { message.attempt; }) (void)finder.knows(message.attempt);
}

}  // namespace

Bounded bound(FromAgent& message) {
  Finder finder;
  std::visit([&](auto& one) { check(finder, one); }, message);
  Bounded out = finder.take();
  if (std::holds_alternative<Listing>(message)) out.is_void = false;
  return out;
}

}  // namespace hostler::agent
