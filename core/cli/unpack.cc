#include "core/cli/unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <utility>

#include "core/base/tar.h"
#include "core/base/text.h"

namespace hostler::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRows = "hostler.db";
constexpr const char* kEnd = "backup.json";  ///< The last file of a whole backup.

/// The files of a state folder have plain names.
bool is_expected(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '-' || c == '_' || c == '.';
  };
  if (!is_safe_path(name) || !std::all_of(name.begin(), name.end(), plain)) return false;
  const auto slash = name.find('/');
  if (slash == std::string_view::npos) return name == kRows || name == kEnd;
  const auto folder = name.substr(0, slash);
  return folder == "blobs" || folder == "keys" || folder == "segments" || folder == "spool";
}

}  // namespace

Unpack::Unpack(fs::path folder) : folder_(std::move(folder)), part_(folder_.string() + ".part") {}

Unpack::~Unpack() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(part_, ignored);
}

Result<Unpack> Unpack::into(const fs::path& folder) {
  auto path = fs::absolute(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(path, ignored)))
    return fail(Errc::kConflict, path.string() + " exists: name a folder that does not");
  Unpack out(path);
  if (::mkdir(out.part_.c_str(), 0700) != 0) {
    auto error = errno_error("make " + out.part_.string(),
                             errno == EEXIST ? Errc::kConflict : Errc::kInvalidArgument);
    out.folder_.clear();  // it is another one's
    return tl::unexpected(std::move(error));
  }
  return out;
}

Result<void> Unpack::take(std::string_view bytes) {
  const auto cut = [&bytes](std::uint64_t length) {
    const auto piece = bytes.substr(0, std::min<std::uint64_t>(length, bytes.size()));
    bytes.remove_prefix(piece.size());
    return piece;
  };
  while (!bytes.empty() && !ended_) {
    if (left_ > 0) {
      const auto piece = cut(left_);
      HOSTLER_TRY(write_all(file_.get(), piece, (part_ / name_).string()));
      left_ -= piece.size();
      bytes_ += piece.size();
    } else if (padding_ > 0) {
      padding_ -= cut(padding_).size();
    } else {
      header_ += cut(tar::kBlock - header_.size());
      if (header_.size() == tar::kBlock) HOSTLER_TRY(begin_entry());
    }
  }
  return {};
}

Result<void> Unpack::begin_entry() {
  const auto entry = HOSTLER_TRY(tar::parse_header(std::exchange(header_, {})));
  ended_ = !entry;
  if (!entry) return {};
  if (has_end_ || !is_expected(entry->name))
    return fail(Errc::kMisbehaving,
                "the daemon sent a file that no backup has: " + printable(entry->name, 100));
  name_ = entry->name;
  const auto path = part_ / name_;
  std::error_code code;
  const auto before = ::umask(0077);
  fs::create_directories(path.parent_path(), code);
  ::umask(before);
  if (code) return fail(Errc::kInternal, "make " + path.parent_path().string());
  file_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file_) return tl::unexpected(errno_error("create " + path.string()));
  left_ = entry->size;
  padding_ = tar::padding(entry->size);
  has_end_ = name_ == kEnd;
  files_ += has_end_ ? 0 : 1;
  return {};
}

Result<void> Unpack::finish() {
  if (!ended_ || !has_end_)
    return fail(Errc::kUnavailable,
                "the daemon did not send all of the backup: its log says why; make it again");
  const UniqueFd fd(::open(part_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::syncfs(fd.get()) != 0) return tl::unexpected(errno_error("sync " + part_.string()));
  if (std::rename(part_.c_str(), folder_.c_str()) != 0)
    return tl::unexpected(errno_error("rename to " + folder_.string(), Errc::kConflict));
  const UniqueFd parent(::open(folder_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent) ::fsync(parent.get());
  folder_.clear();
  return {};
}

}  // namespace hostler::cli
