#include "core/daemon/empty_mark.h"

#include "core/base/files.h"
#include "core/log/log.h"

namespace hostler::daemon {
namespace {

std::filesystem::path mark_in(const std::filesystem::path& state) { return state / "no-instances"; }

}  // namespace

Result<void> clear_empty_mark(const std::filesystem::path& state) {
  std::error_code problem;
  std::filesystem::remove(mark_in(state), problem);
  if (problem)
    return fail(Errc::kInternal, "remove " + mark_in(state).string() + ": " + problem.message());
  return {};
}

void set_empty_mark(const std::filesystem::path& state) {
  const auto done = write_file(
      mark_in(state), "hostlerd stopped with no instance left; its start removes this\n", 0600);
  if (!done) log::warn("daemon", done.error().message);
}

}  // namespace hostler::daemon
