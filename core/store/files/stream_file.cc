#include "core/store/files/stream_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/store/files/folders.h"

namespace hostler::store {
namespace {

constexpr std::size_t kGapsFileMax = std::size_t{1} << 20U;

std::filesystem::path gaps_path(const std::filesystem::path& file) {
  return file.string() + ".gaps";
}

/// One line per gap: "<at> <length>". A last line without a line end was cut by a crash; no byte
/// was written after it.
Result<std::vector<Gap>> read_gaps(const std::filesystem::path& file) {
  const auto text = read_file(gaps_path(file), kGapsFileMax);
  if (!text && text.error().code == Errc::kNotFound) return std::vector<Gap>{};
  if (!text) return tl::unexpected(text.error());
  std::vector<Gap> gaps;
  auto lines = split(*text, '\n');
  lines.pop_back();
  for (const auto line : lines) {
    const auto space = line.find(' ');
    const auto at = parse_u64(line.substr(0, space));
    const auto length =
        space == std::string_view::npos ? std::nullopt : parse_u64(line.substr(space + 1));
    if (!at || !length)
      return fail(Errc::kInternal, gaps_path(file).string() + " is damaged: '" +
                                       printable(line, 60) + "' is no gap");
    gaps.push_back({*at, *length});
  }
  return gaps;
}

Result<std::uint64_t> size_of(const std::filesystem::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) == 0) return static_cast<std::uint64_t>(info.st_size);
  if (errno == ENOENT) return 0;
  return tl::unexpected(errno_error("stat " + file.string()));
}

}  // namespace

Result<StreamFile> StreamFile::open(const std::filesystem::path& file, std::uint64_t bytes_max) {
  StreamFile stream(file, bytes_max);
  stream.fd_ = UniqueFd(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  if (!stream.fd_ && errno != ENOENT)
    return tl::unexpected(errno_error("open " + file.string(), Errc::kUnavailable));
  stream.gaps_ = HOSTLER_TRY(read_gaps(file));
  stream.gaps_bytes_ = HOSTLER_TRY(size_of(gaps_path(file)));
  for (const auto& gap : stream.gaps_) stream.missing_ += gap.length;
  if (!stream.fd_) return stream;
  stream.size_ = HOSTLER_TRY(size_of(file));
  stream.dirty_ = true;
  HOSTLER_TRY(stream.sync());
  return stream;
}

Result<void> StreamFile::make() {
  HOSTLER_TRY(make_folder(path_.parent_path()));
  UniqueFd fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return tl::unexpected(errno_error("create " + path_.string(), Errc::kUnavailable));
  HOSTLER_TRY(sync_folder(path_.parent_path()));
  fd_ = std::move(fd);
  return {};
}

Result<void> StreamFile::add_gap(std::uint64_t length) {
  // Durable before the bytes behind it, so that a reader of these bytes sees the gap.
  auto gaps = gaps_;
  gaps.push_back({size_, length});
  std::string text;
  for (const auto& gap : gaps)
    text += std::to_string(gap.at) + " " + std::to_string(gap.length) + "\n";
  if (text.size() > kGapsFileMax)
    return fail(Errc::kTooLarge, path_.string() + " has too many gaps");
  HOSTLER_TRY(write_durably(gaps_path(path_), text));
  gaps_ = std::move(gaps);
  gaps_bytes_ = text.size();
  missing_ += length;
  return {};
}

Result<void> StreamFile::append(std::uint64_t offset, std::string_view bytes) {
  if (offset < end()) bytes.remove_prefix(std::min<std::uint64_t>(end() - offset, bytes.size()));
  if (bytes.empty()) return {};
  if (size_ + bytes.size() > bytes_max_)
    return fail(Errc::kTooLarge, "more than " + std::to_string(bytes_max_) +
                                     " bytes of one stream: " + path_.string());
  if (!fd_) HOSTLER_TRY(make());
  if (offset > end()) HOSTLER_TRY(add_gap(offset - end()));
  auto at = size_;
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected(errno_error("write " + path_.string(), Errc::kUnavailable));
    bytes.remove_prefix(static_cast<std::size_t>(n));
    at += static_cast<std::uint64_t>(n);
  }
  size_ = at;
  dirty_ = true;
  return {};
}

Result<void> StreamFile::sync() {
  if (!dirty_) return {};
  HOSTLER_ASSERT(fd_, "bytes that are not synced were written to an open file");
  if (::fdatasync(fd_.get()) != 0) abort_after_failed_sync(path_);
  dirty_ = false;
  return {};
}

Result<StreamPart> read_stream(const std::filesystem::path& file, std::uint64_t offset,
                               std::size_t max) {
  // The size first: each gap was written before the bytes behind it.
  const auto size = HOSTLER_TRY(size_of(file));
  auto gaps = HOSTLER_TRY(read_gaps(file));
  gaps.push_back({size, 0});
  std::uint64_t from = 0;     // where the piece between two gaps begins in the file
  std::uint64_t missing = 0;  // in the gaps before it
  StreamPart part{.data = {}, .offset = offset, .lost = 0, .end = size};
  bool found = false;
  for (const auto& gap : gaps) {
    const auto to = std::min(gap.at, size);
    if (!found && offset < to + missing) {
      found = true;
      part.offset = std::max(offset, from + missing);
      const auto at = part.offset - missing;
      part.data = HOSTLER_TRY(read_at(file, at, std::min<std::uint64_t>(max, to - at)));
    }
    from = to;
    missing += gap.length;
  }
  part.end = size + missing;
  part.missing = missing;
  if (!found) part.offset = std::max(offset, part.end);
  part.lost = part.offset - offset;
  return part;
}

}  // namespace hostler::store
