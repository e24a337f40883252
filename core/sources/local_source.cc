#include "core/sources/local_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/command_output.h"
#include "core/base/files.h"
#include "core/sources/number.h"

namespace hostler::sources {
namespace {

using std::chrono::minutes;

constexpr std::size_t kFileMax = std::size_t{1} << 20U;
constexpr std::size_t kOutputMax = std::size_t{64} << 10U;
constexpr Duration kAheadMax = minutes(1);  // of a clock of a server for files

/// A file can say any time that 64 bits have.
Wall changed_at(const struct stat& info) {
  constexpr std::int64_t kSecondsMax = std::numeric_limits<std::int64_t>::max() / 1'000'000 - 1;
  const auto since_1970 = std::clamp<std::int64_t>(info.st_mtim.tv_sec, -kSecondsMax, kSecondsMax);
  return {since_1970 * 1'000'000 + info.st_mtim.tv_nsec / 1000};
}

Samples one_sample(double value, Wall taken) {
  return {{.key = "", .value = value, .taken = taken}};
}

}  // namespace

Result<Samples> read_file_source(const model::MetricSource& source, Wall now) {
  // O_NONBLOCK: a FIFO without a writer would never open.
  const UniqueFd fd(::open(source.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0)
    return tl::unexpected(errno_error("open " + source.file, Errc::kNotFound));
  if (!S_ISREG(info.st_mode))
    return fail(Errc::kInvalidArgument, source.file + " is not a regular file");
  const Wall changed = changed_at(info);
  if (changed > now + kAheadMax)
    return fail(Errc::kInvalidArgument, source.file +
                                            " was changed in the future: set the clock of the "
                                            "machine that writes it");
  const std::string text = HOSTLER_TRY(read_open_file(fd, source.file, kFileMax));
  const double value = HOSTLER_TRY(number_at(text, source.pointer, source.file));
  return one_sample(value, std::min(changed, now));
}

Result<Samples> read_exec_source(const model::MetricSource& source, Wall now, int stop_fd) {
  const std::string text = HOSTLER_TRY(command_output(
      source.command, {source.timeout, kOutputMax, stop_fd}, {plain_environment(), true}));
  const double value =
      HOSTLER_TRY(number_at(text, source.pointer, "the output of " + source.command[0]));
  return one_sample(value, now);
}

}  // namespace hostler::sources
