#include "core/driver_host/parent/output_lines.h"

#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::driver_host {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLineMax = std::size_t{4} << 10U, kLastLineMax = 512, kLinesKept = 5,
                      kLinesPerSecond = 50, kBytesPerSecond = std::size_t{256} << 10U;

}  // namespace

std::vector<std::string> OutputLines::add(std::string_view bytes, SteadyTime now) {
  if (now - second_ >= 1s) second_ = now, lines_in_second_ = bytes_in_second_ = 0;
  bytes_in_second_ += bytes.size();
  bytes_ += bytes.size();
  std::vector<std::string> lines;
  for (const char c : bytes) {
    if (c == '\n') {
      if (!std::exchange(is_cut_, false)) end_line(lines);
    } else if (!is_cut_) {
      part_.push_back(c);
      is_cut_ = part_.size() == kLineMax;
      if (is_cut_) end_line(lines);
    }
  }
  return lines;
}

void OutputLines::end_line(std::vector<std::string>& lines) {
  const std::string whole = std::exchange(part_, {});
  std::string line = printable(whole, kLineMax);
  if (line.empty()) return;
  last_.push_back(printable(whole, kLastLineMax));
  if (last_.size() > kLinesKept) last_.pop_front();
  if (!may_pass()) return;
  if (const auto left_out = std::exchange(left_out_, 0); left_out > 0)
    line += " (" + std::to_string(left_out) + " lines before it were left out)";
  lines.push_back(std::move(line));
}

bool OutputLines::may_pass() {
  if (++lines_in_second_ <= kLinesPerSecond) return true;
  ++left_out_;
  return false;
}

std::optional<SteadyTime> OutputLines::waits_until(SteadyTime now) const {
  const SteadyTime next = second_ + 1s;
  if (bytes_in_second_ < kBytesPerSecond || now >= next) return std::nullopt;
  return next;
}

std::string OutputLines::flood(SteadyTime now) {
  if (!waits_until(now) || (flood_told_ && now - *flood_told_ < 1min)) return {};
  flood_told_ = now;
  return "R41: it writes more than " + format_size(kBytesPerSecond) +
         " a second to its standard output or error, " +
         format_size(static_cast<std::int64_t>(bytes_)) + " so far: it waits";
}

std::string OutputLines::last() const {
  std::string out;
  for (const auto& line : last_) out += (out.empty() ? "" : "; ") + line;
  return out;
}

}  // namespace hostler::driver_host
