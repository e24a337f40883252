#include "core/store/load_backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <set>
#include <system_error>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/json/document.h"
#include "core/store/backup.h"
#include "core/store/copy_rows.h"
#include "core/store/files/folders.h"
#include "core/store/known.h"
#include "core/store/meta.h"
#include "core/store/schema.h"
#include "core/store/sqlite/database.h"
#include "core/store/state_lock.h"

namespace hostler::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLoading = "loading";  ///< There until the load has ended.

Result<void> check_backup(const fs::path& backup) {
  const auto text = read_file(backup / kBackupEnd, 4096);
  if (!text)
    return fail(Errc::kInvalidArgument,
                backup.string() + " is no whole backup: " + text.error().message);
  const auto json = json::Document::parse(*text);
  if (!json || json->root().at("format").int_or(0) != 1)
    return fail(Errc::kInvalidArgument,
                (backup / kBackupEnd).string() + " is of no format that this hostlerd knows");
  return {};
}

Result<void> check_empty(const fs::path& folder) {
  static const std::set<std::string> kHarmless{"lock", "no-instances"};
  for (const auto& name : HOSTLER_TRY(names_in(folder)))
    if (!kHarmless.contains(name))
      return fail(Errc::kConflict, "the state folder " + folder.string() + " is not empty (" +
                                       printable(name, 60) + "): move it aside first");
  return {};
}

Result<void> copy_one_file(const fs::path& from, const fs::path& to) {
  const UniqueFd in(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!in) return tl::unexpected(errno_error("open " + from.string()));
  const UniqueFd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out) return tl::unexpected(errno_error("create " + to.string()));
  std::string piece(std::size_t{1} << 20U, '\0');
  for (;;) {
    const ssize_t got = ::read(in.get(), piece.data(), piece.size());
    if (got < 0) return tl::unexpected(errno_error("read " + from.string()));
    if (got == 0) return {};
    HOSTLER_TRY(write_all(out.get(), std::string_view(piece).substr(0, static_cast<size_t>(got)),
                          to.string()));
  }
}

Result<void> copy_folder(const fs::path& from, const fs::path& to) {
  std::error_code code;
  fs::recursive_directory_iterator entries(from, code);
  if (code == std::errc::no_such_file_or_directory) return {};
  for (; !code && entries != fs::recursive_directory_iterator(); entries.increment(code)) {
    std::error_code ignored;
    if (!fs::is_regular_file(entries->symlink_status(ignored))) continue;
    const auto target = to / entries->path().lexically_relative(from);
    HOSTLER_TRY(make_folder(target.parent_path()));
    HOSTLER_TRY(copy_one_file(entries->path(), target));
  }
  if (code) return fail(Errc::kInternal, "list " + from.string() + ": " + code.message());
  return {};
}

Result<void> load_rows(const fs::path& file, const Place& to) {
  const auto rows = HOSTLER_TRY(sqlite::open(file, Mode::kWrite, /*busy_ms=*/0));
  HOSTLER_TRY(migrate(*rows));
  HOSTLER_TRY(rows->do_idle_work());
  if (to.postgres.empty()) return {};
  const auto server = HOSTLER_TRY(connect(to, Mode::kWrite));
  HOSTLER_TRY(migrate(*server));
  if (!HOSTLER_TRY(meta_value(*server, "owner")).empty())
    return fail(Errc::kConflict,
                "the database that store.postgres names has the rows of a site: name an empty one");
  server->set_patience(Patience::kEndless);
  return copy_rows(*rows, *server);
}

Result<void> sync_all(const fs::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::syncfs(fd.get()) != 0) return tl::unexpected(errno_error("sync " + folder.string()));
  return {};
}

}  // namespace

Result<void> check_loaded(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / kLoading, ignored)) return {};
  return fail(Errc::kConflict,
              "a backup was loaded here, and that did not end: empty the folder (and the database "
              "of store.postgres), and load it again");
}

Result<void> load_backup(const fs::path& backup, const Place& to) {
  HOSTLER_TRY(check_backup(backup));
  HOSTLER_TRY(make_private_folder(to.folder));
  const auto lock = HOSTLER_TRY(StateLock::take(to.folder / "lock"));
  HOSTLER_TRY(check_empty(to.folder));
  const auto loading = to.folder / kLoading;
  HOSTLER_TRY(write_durably(loading, backup.string() + "\n"));
  for (const char* folder : kBackedUpFolders)
    HOSTLER_TRY(copy_folder(backup / folder, to.folder / folder));
  const auto rows = to.folder / "hostler.db";
  HOSTLER_TRY(copy_one_file(backup / "hostler.db", rows));
  HOSTLER_TRY(load_rows(rows, to));
  std::error_code code;
  if (!to.postgres.empty()) fs::remove(rows, code);
  HOSTLER_TRY(sync_all(to.folder));
  if (!code) fs::rename(loading, to.folder / kRestoredMark, code);
  if (code) return fail(Errc::kInternal, "end the load: " + code.message());
  return sync_folder(to.folder);
}

}  // namespace hostler::store
