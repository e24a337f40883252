#include "core/driver_host/parent/output_lines.h"

#include <utility>

#include "core/base/text.h"

namespace hostler::driver_host {
namespace {

constexpr std::size_t kLineMax = 512, kLinesKept = 5, kLinesPerSecond = 50;

}  // namespace

std::vector<std::string> OutputLines::add(std::string_view bytes, SteadyTime now) {
  std::vector<std::string> lines;
  for (const char c : bytes) {
    if (c != '\n') {
      if (part_.size() < kLineMax) part_.push_back(c);
      continue;
    }
    std::string line = printable(std::exchange(part_, {}), kLineMax);
    if (line.empty()) continue;
    last_.push_back(line);
    if (last_.size() > kLinesKept) last_.pop_front();
    if (!may_pass(now)) continue;
    if (const auto left_out = std::exchange(left_out_, 0); left_out > 0)
      line += " (" + std::to_string(left_out) + " lines before it were left out)";
    lines.push_back(std::move(line));
  }
  return lines;
}

bool OutputLines::may_pass(SteadyTime now) {
  if (now - second_ >= std::chrono::seconds(1)) second_ = now, in_second_ = 0;
  if (++in_second_ <= kLinesPerSecond) return true;
  ++left_out_;
  return false;
}

std::string OutputLines::last() const {
  std::string out;
  for (const auto& line : last_) out += (out.empty() ? "" : "; ") + line;
  return out;
}

}  // namespace hostler::driver_host
