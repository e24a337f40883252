#include "core/store/connect.h"

#include "core/store/postgres/database.h"
#include "core/store/sqlite/database.h"

namespace hostler::store {
namespace {

/// How long a lock by someone else is waited for in one try.
constexpr int kWriteBusyMs = 1000, kReadBusyMs = 2000;

}  // namespace

Result<std::unique_ptr<Connection>> connect(const Place& place, Mode mode) {
  if (!place.postgres.empty()) return postgres::open(place.postgres, mode);
  return sqlite::open(place.folder / "hostler.db", mode,
                      mode == Mode::kWrite ? kWriteBusyMs : kReadBusyMs);
}

}  // namespace hostler::store
