#include "core/tap/recording_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <utility>

#include "core/base/trusted_file.h"
#include "core/base/units.h"
#include "core/json/writer.h"
#include "core/log/log.h"

namespace hostler::tap {
namespace {

constexpr std::string_view kFirst = "{\"recording\":";
/// Kept free below the limit for the mark of the end.
constexpr std::uint64_t kEndBytes = 256;

std::string header(const RecordingFile::Options& options, Wall began) {
  std::string out;
  json::Writer w(out);
  w.begin_object().member("recording", kVersion).member("set", options.set);
  w.member("driver", options.driver).member("began", exact_wall(began)).end_object();
  return out + "\n";
}

/// The file in its folder, so that nobody can exchange the folder in between.
Result<UniqueFd> open_in_folder(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) {
    return fail(Errc::kForbidden, path.string() + ": " + why);
  };
  const UniqueFd folder = HOSTLER_TRY(open_trusted_folder(path.parent_path()));
  UniqueFd fd(::openat(folder.get(), path.filename().c_str(),
                       O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!fd && errno == ELOOP) return refuse("it is a symbolic link: name the file itself");
  if (!fd) return tl::unexpected(errno_error("open " + path.string(), Errc::kInvalidArgument));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return refuse("no regular file");
  HOSTLER_TRY(check_secret_file(fd, path));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
    return refuse("another set or another hostlerd records in it: each set needs its own file");
  return fd;
}

/// A session that was killed may have left the half of a line at the end: cuts it off. Returns the
/// bytes of the file.
Result<std::uint64_t> repair_end(int fd, const std::string& name) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return tl::unexpected(errno_error("look at " + name));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  std::array<char, kLineBytesMax> end{};
  const std::uint64_t from = size > end.size() ? size - end.size() : 0;
  const auto count = ::pread(fd, end.data(), end.size(), static_cast<off_t>(from));
  if (count < 0) return tl::unexpected(errno_error("read " + name));
  const std::string_view text(end.data(), static_cast<std::size_t>(count));
  const auto last = text.rfind('\n');
  const std::uint64_t whole = last == std::string_view::npos ? 0 : from + last + 1;
  if (whole != size && ::ftruncate(fd, static_cast<off_t>(whole)) != 0)
    return tl::unexpected(errno_error("repair the end of " + name));
  return whole;
}

Result<void> check_first_line(int fd, const std::string& name) {
  std::array<char, kFirst.size()> begin{};
  const auto count = ::pread(fd, begin.data(), begin.size(), 0);
  const std::string_view text(begin.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
  if (text.empty() || text == kFirst) return {};
  return fail(Errc::kInvalidArgument,
              name + ": it has something else than a recording: name another file, or remove it");
}

}  // namespace

Result<std::unique_ptr<RecordingFile>> RecordingFile::open(Options options) {
  const std::string name = options.path.string();
  UniqueFd fd = HOSTLER_TRY(open_in_folder(options.path));
  HOSTLER_TRY(check_first_line(fd.get(), name));
  const std::uint64_t bytes = HOSTLER_TRY(repair_end(fd.get(), name));
  if (bytes + 2 * kEndBytes > options.bytes_max)
    return fail(Errc::kTooLarge, name + ": it has " +
                                     format_size(static_cast<std::int64_t>(bytes)) +
                                     " and has reached its limit (record_max): move it away");
  return std::unique_ptr<RecordingFile>(
      new RecordingFile(std::move(options), std::move(fd), bytes));
}

RecordingFile::RecordingFile(Options options, UniqueFd fd, std::uint64_t bytes)
    : options_(std::move(options)),
      began_(options_.clock().mono),
      fd_(std::move(fd)),
      bytes_(bytes) {
  {
    const MutexLock lock(mutex_);
    (void)enqueue(header(options_, options_.clock().wall));
  }
  thread_ = std::thread([this] { run(); });
}

RecordingFile::~RecordingFile() {
  {
    const MutexLock lock(mutex_);
    if (!ended_) end("closed");
    closing_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

bool RecordingFile::append(Mono start, std::string_view rest) {
  const auto us = [](Duration d) {
    return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(d).count());
  };
  const MutexLock lock(mutex_);
  if (ended_) return false;
  // The clock is read here, so that calls are in the order of their ends.
  const Mono now = options_.clock().mono;
  std::string line;
  json::Writer(line).begin_object().member("n", ++calls_).member("set", options_.set);
  line += ",\"start_us\":" + us(start - began_) + ",\"took_us\":" + us(now - start) + ",";
  line.append(rest) += "}\n";
  if (line.size() > kLineBytesMax || queue_.size() + line.size() > options_.queue_bytes_max) {
    ++dropped_;
    return false;
  }
  if (!enqueue(line)) {
    end("limit");
    log::warn(area(), options_.path.string() +
                          " has reached its limit (record_max): the recording "
                          "has ended; move the file away and restart");
    return false;
  }
  return true;
}

/// False: the file would be too large.
bool RecordingFile::enqueue(std::string_view line) {
  if (bytes_ + line.size() + kEndBytes > options_.bytes_max) return false;
  queue_ += line;
  bytes_ += line.size();
  woken_.notify_one();
  return true;
}

void RecordingFile::end(std::string_view why) {
  ended_ = true;
  json::Writer(queue_).begin_object().member("end", why).member("calls", calls_).end_object();
  queue_ += '\n';
  woken_.notify_one();
}

void RecordingFile::run() {
  pthread_setname_np(pthread_self(), "recording");
  const MutexLock lock(mutex_);
  for (;;) {
    woken_.wait(mutex_, [this]() HOSTLER_REQUIRES(mutex_) { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::string lines = std::exchange(queue_, {});
    const auto dropped = std::exchange(dropped_, 0);
    const MutexUnlock unlocked(mutex_);
    if (dropped > 0)
      log::warn(area(), std::to_string(dropped) + " calls are missing in " +
                            options_.path.string() +
                            ": they came faster than the disk takes them, or were too long");
    write(lines);
  }
}

/// A line that the disk had no room for is taken back, so that the file stays readable.
void RecordingFile::write(const std::string& lines) {
  const std::string name = options_.path.string();
  const auto written = write_all(fd_.get(), lines, name);
  if (written) return;
  const auto repaired = repair_end(fd_.get(), name);
  log::error(area(), written.error().message + ": the recording has ended" +
                         (repaired ? "" : ", and its last line is cut"));
  const MutexLock lock(mutex_);
  ended_ = true;
  queue_.clear();
}

}  // namespace hostler::tap
