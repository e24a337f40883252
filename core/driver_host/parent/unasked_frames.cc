#include "core/driver_host/parent/unasked_frames.h"

#include <utility>

namespace hostler::driver_host {
namespace {

using namespace std::chrono_literals;

/// In a second. The program sends 200 lines, and what waited in the socket may come at once.
constexpr std::size_t kUnaskedLinesMax = 250, kUnaskedMax = 1000;

}  // namespace

void UnaskedFrames::add(SteadyTime now) {
  if (now - second_ >= 1s) second_ = now, in_second_ = lines_in_second_ = 0;
  ++in_second_;
  ++all_;
}

std::string UnaskedFrames::add_line(std::string line, SteadyTime now) {
  add(now);
  if (++lines_in_second_ > kUnaskedLinesMax) return ++left_out_, std::string();
  if (const auto left_out = std::exchange(left_out_, 0); left_out > 0)
    line += " (" + std::to_string(left_out) + " lines before it were left out)";
  return line;
}

std::optional<SteadyTime> UnaskedFrames::waits_until(SteadyTime now) const {
  const SteadyTime next = second_ + 1s;
  if (in_second_ < kUnaskedMax || now >= next) return std::nullopt;
  return next;
}

std::string UnaskedFrames::flood(SteadyTime now) {
  if (!waits_until(now) || (flood_told_ && now - *flood_told_ < 1min)) return {};
  flood_told_ = now;
  return "R44: it sends more than " + std::to_string(kUnaskedMax) +
         " messages a second that no call asked for, " + std::to_string(all_) +
         " so far: it waits, and lines of log are left out";
}

}  // namespace hostler::driver_host
