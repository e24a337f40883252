#include "core/agent/host/attempt/notice_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "core/agent/host/system/os.h"

namespace hostler::agent {
namespace {

constexpr std::uint64_t kLeftMaxUs = std::uint64_t{86400} * 366 * 1'000'000;

}  // namespace

std::string notice_path(model::AttemptId attempt) {
  return "out/" + std::to_string(attempt.work.value) + "." + std::to_string(attempt.number) +
         ".notice";
}

bool write_notice(const Interrupt& notice, std::int64_t now_us) {
  const std::string path = notice_path(notice.attempt), part = path + ".part";
  const std::int64_t ends =
      now_us + static_cast<std::int64_t>(std::min(notice.left_us, kLeftMaxUs));
  const std::string text = std::to_string(notice.notice) + " " + std::to_string(notice.at_us) +
                           " " + std::to_string(ends) + " " +
                           std::to_string(static_cast<unsigned>(notice.action)) + "\n";
  const UniqueFd fd(::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  return fd && write_all(fd.get(), text, part) && ::rename(part.c_str(), path.c_str()) == 0;
}

std::optional<ReadNotice> read_notice(model::AttemptId attempt) {
  const std::string text = read_small(notice_path(attempt).c_str(), 200);
  ReadNotice out;
  unsigned action = 0;
  unsigned long long id = 0;
  long long at = 0, ends = 0;
  if (std::sscanf(text.c_str(), "%llu %lld %lld %u\n", &id, &at, &ends, &action) != 4)
    return std::nullopt;
  if (action > static_cast<unsigned>(model::InterruptionAction::kWithdrawn)) return std::nullopt;
  out.notice = id;
  out.at_us = at;
  out.ends_us = ends;
  out.action = static_cast<model::InterruptionAction>(action);
  return out;
}

}  // namespace hostler::agent
