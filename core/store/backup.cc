#include "core/store/backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/base/tar.h"
#include "core/json/writer.h"
#include "core/store/copy_rows.h"
#include "core/store/schema.h"
#include "core/store/sqlite/database.h"

namespace hostler::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = 256 << 10;

/// The rows of the store, as a file of SQLite.
Result<void> copy_rows_to(const fs::path& file, const Place& place) {
  auto from = HOSTLER_TRY(connect(place, Mode::kRead));
  if (from->engine() == Engine::kSqlite) {
    // Made first, as SQLite would give it the mode of the umask. An empty file is taken.
    const UniqueFd made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!made) return tl::unexpected(errno_error("create " + file.string(), Errc::kUnavailable));
    auto into = HOSTLER_TRY(from->prepare("VACUUM INTO $1"));
    return into.run(file.string());
  }
  const auto to = HOSTLER_TRY(sqlite::open(file, Mode::kWrite, /*busy_ms=*/0));
  HOSTLER_TRY(migrate(*to));
  HOSTLER_TRY(copy_rows(*from, *to));
  HOSTLER_TRY(to->do_idle_work());  // all of it into the one file
  return {};
}

void remove_rows(const fs::path& file) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    fs::remove(file.string() + suffix, ignored);
}

}  // namespace

Result<std::unique_ptr<Backup>> Backup::begin(const Place& place,
                                              std::shared_ptr<std::atomic<bool>> tidying) {
  if (tidying->exchange(true))
    return fail(Errc::kUnavailable,
                "another backup is being made, or expired records are being removed: try again");
  std::unique_ptr<Backup> backup(new Backup(place, std::move(tidying)));
  HOSTLER_TRY(backup->copy_database());
  HOSTLER_TRY(backup->list_files());
  return backup;
}

Result<void> Backup::copy_database() {
  const auto file = place_.folder / "backup.db";
  remove_rows(file);  // of a process that was killed
  const auto copied = copy_rows_to(file, place_);
  rows_ = UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  remove_rows(file);
  if (!copied) return tl::unexpected(Error(copied.error()).with_context("copy the rows"));
  if (!rows_) return fail(Errc::kUnavailable, "the copy of the rows cannot be read");
  return {};
}

Result<void> Backup::list_files() {
  for (const char* folder : kBackedUpFolders) {
    std::error_code code;
    fs::recursive_directory_iterator entries(place_.folder / folder, code);
    if (code == std::errc::no_such_file_or_directory) continue;
    for (; !code && entries != fs::recursive_directory_iterator(); entries.increment(code)) {
      std::error_code ignored;
      const auto& path = entries->path();
      const bool is_upload = entries->is_directory(ignored) && path.filename() == "part";
      if (is_upload) entries.disable_recursion_pending();
      if (fs::is_regular_file(entries->symlink_status(ignored)))
        names_.push_back(path.lexically_relative(place_.folder).string());
    }
    if (code)
      return fail(Errc::kUnavailable,
                  "list " + (place_.folder / folder).string() + ": " + code.message());
  }
  std::sort(names_.begin(), names_.end(), std::greater<>());
  return {};
}

Result<std::string> Backup::next() {
  std::string out;
  while (out.size() < kPieceBytes && !ended_) {
    if (!file_) {
      HOSTLER_TRY(begin_file(out));
      continue;
    }
    const auto begin = out.size();
    out.resize(begin + std::min<std::uint64_t>(left_, kPieceBytes));
    const ssize_t got = ::read(file_.get(), out.data() + begin, out.size() - begin);
    if (got < 0 && errno != EINTR) return tl::unexpected(errno_error("read " + name_));
    auto bytes = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    // Somebody has deleted this output meanwhile; its mark, or a row, says so.
    if (got == 0) bytes = out.size() - begin;
    out.resize(begin + bytes);
    left_ -= bytes;
    if (left_ > 0) continue;
    out.append(tar::padding(size_), '\0');
    file_.reset();
  }
  return out;
}

Result<void> Backup::begin_file(std::string& out) {
  const bool is_rows = static_cast<bool>(rows_);
  if (!is_rows && names_.empty()) {
    add_end(out);
    return {};
  }
  std::string name = "hostler.db";
  UniqueFd file = std::move(rows_);
  if (!is_rows) {
    name = std::move(names_.back());
    names_.pop_back();
    file.reset(::open((place_.folder / name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file && errno == ENOENT) return {};  // removed by hand; no row needs to be told
    if (!file) return tl::unexpected(errno_error("open " + name));
  }
  if (name.size() > tar::kNameMax)
    return fail(Errc::kInternal, "the name of " + name + " is too long for a backup");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return tl::unexpected(errno_error("stat " + name));
  open_file(std::move(file), static_cast<std::uint64_t>(info.st_size), name, out);
  return {};
}

/// What the file grows by from now on is left out.
void Backup::open_file(UniqueFd file, std::uint64_t size, const std::string& name,
                       std::string& out) {
  out += tar::header({name, size});
  ++files_;
  name_ = name;
  size_ = left_ = size;
  if (size > 0) file_ = std::move(file);
}

void Backup::add_end(std::string& out) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("format", 1).member("schema", schema_version());
  w.member("files", files_).end_object();
  text += '\n';
  out += tar::header({kBackupEnd, text.size()}) + text;
  out.append(tar::padding(text.size()) + 2 * tar::kBlock, '\0');
  ended_ = true;
}

}  // namespace hostler::store
