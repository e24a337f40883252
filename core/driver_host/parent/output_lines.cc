#include "core/driver_host/parent/output_lines.h"

#include <utility>

#include "core/base/text.h"

namespace hostler::driver_host {
namespace {

constexpr std::size_t kLineMax = 512, kLinesKept = 5;

}  // namespace

std::vector<std::string> OutputLines::add(std::string_view bytes) {
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
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string OutputLines::last() const {
  std::string out;
  for (const auto& line : last_) out += (out.empty() ? "" : "; ") + line;
  return out;
}

}  // namespace hostler::driver_host
