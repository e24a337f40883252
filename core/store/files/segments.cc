#include "core/store/files/segments.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/store/files/folders.h"

namespace hostler::store {

std::filesystem::path segment_path(const std::filesystem::path& folder, std::uint64_t number) {
  return folder / std::to_string(number);
}

Result<Segments> Segments::open(const std::filesystem::path& folder, std::uint64_t bytes_max,
                                std::uint64_t used) {
  HOSTLER_TRY(make_folder(folder));
  Segments segments(folder, bytes_max);
  segments.number_ = used;
  for (const auto& name : HOSTLER_TRY(names_in(folder)))
    segments.number_ = std::max(segments.number_, parse_u64(name).value_or(0));
  return segments;
}

Result<void> Segments::begin_next() {
  HOSTLER_TRY(sync());
  const auto path = segment_path(folder_, number_ + 1);
  // O_TRUNC: an earlier try may have left the file, if the sync of the folder failed.
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return tl::unexpected(errno_error("create " + path.string(), Errc::kUnavailable));
  HOSTLER_TRY(sync_folder(folder_));
  file_ = std::move(file);
  ++number_;
  offset_ = 0;
  return {};
}

Result<InlinePlace> Segments::append(const model::AttemptEnd& end) {
  if (!file_ || offset_ >= bytes_max_) HOSTLER_TRY(begin_next());
  const InlinePlace place{number_, offset_, static_cast<std::uint32_t>(end.stdout_inline.size()),
                          static_cast<std::uint32_t>(end.stderr_inline.size())};
  buffer_ += end.stdout_inline;
  buffer_ += end.stderr_inline;
  offset_ += end.stdout_inline.size() + end.stderr_inline.size();
  return place;
}

Result<void> Segments::flush() {
  // With pwrite(), so that a short write on a full disk can be repeated.
  HOSTLER_ASSERT(buffer_.size() <= offset_, "the buffer is the end of the file");
  auto at = offset_ - buffer_.size();
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t n = ::pwrite(file_.get(), rest.data(), rest.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return tl::unexpected(
          errno_error("write " + segment_path(folder_, number_).string(), Errc::kUnavailable));
    rest.remove_prefix(static_cast<std::size_t>(n));
    at += static_cast<std::uint64_t>(n);
  }
  if (buffer_.empty()) return {};
  // Only a hint: sync() makes it durable.
  (void)::sync_file_range(file_.get(), static_cast<off_t>(offset_ - buffer_.size()),
                          static_cast<off_t>(buffer_.size()), SYNC_FILE_RANGE_WRITE);
  unsynced_ = true;
  buffer_.clear();
  return {};
}

Result<void> Segments::sync() {
  HOSTLER_TRY(flush());
  if (!unsynced_) return {};
  if (::fdatasync(file_.get()) != 0) abort_after_failed_sync(segment_path(folder_, number_));
  unsynced_ = false;
  return {};
}

void Segments::discard() {
  offset_ = kept_.number == number_ ? kept_.offset : 0;
  buffer_.clear();
}

Result<std::string> read_segment(const std::filesystem::path& folder, std::uint64_t number,
                                 std::uint64_t offset, std::size_t length) {
  return read_at(segment_path(folder, number), offset, length);
}

}  // namespace hostler::store
