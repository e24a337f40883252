#include "core/store/binding.h"

#include <system_error>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/store/files/folders.h"

namespace hostler::store {
namespace {

bool has(const Place& place, const char* name) {
  std::error_code ignored;
  return std::filesystem::exists(place.folder / name, ignored);
}

}  // namespace

Result<void> check_engine(const Place& place) {
  if (place.postgres.empty() && has(place, "postgres"))
    return fail(Errc::kConflict,
                "its rows are in PostgreSQL: name the database by store.postgres, or take an empty "
                "folder for a site that begins anew");
  if (!place.postgres.empty() && has(place, "hostler.db"))
    return fail(Errc::kConflict,
                "it has rows of its own (hostler.db), which are not moved to PostgreSQL: take an "
                "empty folder, or take store.postgres out of the configuration");
  return {};
}

Result<void> bind_to_owner(const Place& place, const std::string& owner) {
  if (place.postgres.empty()) return {};
  const auto file = place.folder / "postgres";
  const auto bound = read_file(file, 1024);
  if (!bound && bound.error().code == Errc::kNotFound) return write_durably(file, owner + "\n");
  if (!bound) return tl::unexpected(bound.error());
  if (*bound == owner + "\n") return {};
  return fail(Errc::kConflict, "it holds the output of another database's jobs (owner " +
                                   printable(*bound, 40) + ", not " + owner +
                                   "): name that database, or take an empty folder");
}

}  // namespace hostler::store
