#include "core/store/store.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/store/folders.h"
#include "core/store/restore.h"
#include "core/store/schema.h"
#include "core/store/segments.h"

namespace hostler::store {
namespace {

constexpr int kBusyMs = 1000;  ///< How long a lock by someone else is waited for in one try.

std::filesystem::path database_path(const std::filesystem::path& folder) {
  return folder / "hostler.db";
}

/// Secrets lie in it: nobody else may look.
Result<void> make_private(const std::filesystem::path& folder) {
  HOSTLER_TRY(make_folder(folder));
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0)
    return tl::unexpected(errno_error("stat " + folder.string()));
  if (info.st_uid != ::geteuid())
    return fail(Errc::kForbidden, "the state folder " + folder.string() + " belongs to user " +
                                      std::to_string(info.st_uid) + ", hostlerd runs as " +
                                      std::to_string(::geteuid()) + ": give it its own folder");
  if ((info.st_mode & 07777U) != 0700 && ::chmod(folder.c_str(), 0700) != 0)
    return tl::unexpected(errno_error("chmod 0700 " + folder.string()));
  return {};
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::filesystem::path& folder, Options options) {
  HOSTLER_TRY(make_private(folder));
  std::unique_ptr<Store> store(new Store(folder, HOSTLER_TRY(StateLock::take(folder / "lock"))));
  auto connection =
      HOSTLER_TRY(sqlite::Connection::open(database_path(folder), sqlite::Mode::kWrite, kBusyMs));
  HOSTLER_TRY(migrate(connection));
  HOSTLER_TRY(begin_epoch(connection));
  auto segments = HOSTLER_TRY(Segments::open(folder / "segments", options.segment_bytes_max));
  store->reads_ = HOSTLER_TRY(Reads::open(database_path(folder), options.read_connections));
  store->journal_ = HOSTLER_TRY(
      Journal::start(std::move(connection), std::move(segments), std::move(options.on_health)));
  return store;
}

Store::~Store() = default;

Result<model::Restored> Store::load() {
  auto connection =
      HOSTLER_TRY(sqlite::Connection::open(database_path(folder_), sqlite::Mode::kRead, kBusyMs));
  return restore(connection);
}

Result<Store::InlineOutput> Store::inline_output(const StoredAttempt& attempt) const {
  const auto& place = attempt.place;
  if (place.segment == 0) return InlineOutput{};
  auto text = HOSTLER_TRY(read_segment(folder_ / "segments", place.segment, place.offset,
                                       place.stdout_length + place.stderr_length));
  if (text.size() < std::size_t{place.stdout_length} + place.stderr_length)
    return fail(Errc::kInternal, "segment " + std::to_string(place.segment) +
                                     " is shorter than its rows say: it was damaged");
  return InlineOutput{text.substr(0, place.stdout_length), text.substr(place.stdout_length)};
}

}  // namespace hostler::store
