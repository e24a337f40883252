#include "core/agent/host/server/card_errors.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "core/agent/host/system/os.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

constexpr std::size_t kRecordBytes = 8192;  // Of the longest record of the kernel.
constexpr int kRecordsMax = 200'000;
constexpr std::size_t kErrorsMax = 64;

/// "4,1251,5140900,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus." up to the
/// number. Empty for all else, and for what a program has written there: only the kernel's own
/// messages are of facility 0.
std::string_view error_in(std::string_view record) {
  constexpr std::string_view kBegin = "NVRM: Xid (PCI:";
  const auto priority = parse_u64(record.substr(0, record.find(',')));
  const std::size_t begin = record.find(';');
  if (!priority || *priority > 7 || begin == std::string_view::npos) return "";
  const std::string_view text = record.substr(begin + 1);
  const std::size_t number = text.find("): ");
  if (!text.starts_with(kBegin) || number == std::string_view::npos) return "";
  return text.substr(0, text.find_first_not_of("0123456789", number + 3));
}

}  // namespace

std::string read_card_errors(const std::string& kernel_log) {
  const UniqueFd log(::open(kernel_log.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!log) return "";
  (void)::lseek(log.get(), 0, SEEK_DATA);  // After what `dmesg --clear` has cleared.
  std::vector<std::string> errors;
  std::string buffer(kRecordBytes, '\0');
  for (int i = 0; i < kRecordsMax && errors.size() < kErrorsMax; ++i) {
    const ssize_t n = ::read(log.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EPIPE) continue;  // Records were overwritten meanwhile.
    if (n <= 0) break;
    const std::string_view record(buffer.data(), static_cast<std::size_t>(n));
    const std::string error(error_in(record.substr(0, record.find('\n'))));
    if (!error.empty() && std::ranges::find(errors, error) == errors.end()) errors.push_back(error);
  }
  std::string out;
  for (const std::string& error : errors) out += error + "\n";
  return out;
}

}  // namespace hostler::agent
