#include "sdk/check/process/output.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/base/masked.h"
#include "core/base/text.h"

namespace hostler::check {
namespace {

constexpr std::size_t kOutputMax = std::size_t{1} << 20U, kEndMax = 400;

}  // namespace

bool Output::read(int fd) {
  std::array<char, 65536> block{};
  const ssize_t n = ::read(fd, block.data(), block.size());
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  const auto size = static_cast<std::size_t>(n);
  text_.append(block.data(), std::min(size, kOutputMax - std::min(kOutputMax, text_.size())));
  return true;
}

void Output::read_rest(int fd) {
  while (text_.size() < kOutputMax) {
    const auto before = text_.size();
    if (!read(fd) || text_.size() == before) return;
  }
}

std::string Output::end(const std::vector<std::string>& secrets) const {
  const std::string shown = masked(text_, secrets);
  return printable(shown.substr(shown.size() - std::min(shown.size(), kEndMax)), kEndMax);
}

}  // namespace hostler::check
