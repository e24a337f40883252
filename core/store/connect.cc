#include "core/store/connect.h"

#include "core/store/postgres/database.h"
#include "core/store/sqlite/database.h"

namespace hostler::store {
namespace {

/// How long one try waits for a lock of another process.
constexpr int kWriteBusyMs = 1000, kReadBusyMs = 2000;

}  // namespace

Result<std::unique_ptr<Connection>> connect(const Place& place, Mode mode) {
  if (!place.postgres.empty()) return postgres::open(place.postgres, mode);
  return sqlite::open(place.folder / "hostler.db", mode,
                      mode == Mode::kWrite ? kWriteBusyMs : kReadBusyMs);
}

Result<std::vector<std::unique_ptr<Connection>>> connect_readers(const Place& place,
                                                                 std::size_t count) {
  if (!place.postgres.empty()) return postgres::open_readers(place.postgres, count);
  std::vector<std::unique_ptr<Connection>> readers;
  for (std::size_t i = 0; i < count; ++i)
    readers.push_back(HOSTLER_TRY(connect(place, Mode::kRead)));
  return readers;
}

}  // namespace hostler::store
