#include "core/plugin_host/discovery.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "core/base/text.h"

namespace hostler::plugin_host {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".hostler.json";
constexpr std::size_t kManifestsMax = 1000;  // in one folder
constexpr std::size_t kToldMax = 30;         // paths in a message
constexpr std::array kSystemFolders{"/etc/hostler/drivers.d", "/usr/local/lib/hostler/drivers",
                                    "/usr/lib/hostler/drivers"};

/// The manifests in a folder, sorted by name.
std::vector<fs::path> manifests_in(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> found;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().ends_with(kSuffix)) found.push_back(it->path());
    if (found.size() == kManifestsMax) break;
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Result<Manifest> Discovery::find(std::string_view name) const {
  std::vector<const Manifest*> found;
  for (const auto& driver : drivers) {
    if (driver.name == name && (found.empty() || found[0]->sha256 != driver.sha256))
      found.push_back(&driver);
  }
  const std::string subject = "driver '" + printable(name, 80) + "'";
  if (found.size() > 1) {
    return fail(Errc::kConflict, subject + " has two manifests, " + found[0]->file.string() +
                                     " and " + found[1]->file.string() + "; remove one of them");
  }
  if (found.size() == 1) return *found[0];
  std::string where;
  for (std::size_t i = 0; i < std::min(tried.size(), kToldMax); ++i)
    where += (i == 0 ? "" : "; ") + tried[i].path.string() + ": " + tried[i].outcome;
  if (tried.size() > kToldMax)
    where += "; and " + std::to_string(tried.size() - kToldMax) + " more";
  return fail(Errc::kNotFound, subject + " was not found (" + where +
                                   "); on Debian hostler's own drivers are packages: apt install "
                                   "hostler-driver-NAME");
}

std::vector<SearchedFolder> search_order(const std::vector<fs::path>& driver_path,
                                         const fs::path& program_folder) {
  std::vector<SearchedFolder> folders;
  for (const auto& folder : driver_path) folders.push_back({folder, "driver_path"});
  folders.push_back({(program_folder / "../lib/hostler/drivers").lexically_normal(), "hostler"});
  if (const char* const more = secure_getenv("HOSTLER_DRIVER_PATH"); more != nullptr) {
    for (const auto folder : split(more, ':')) {
      if (!folder.empty()) folders.push_back({fs::path(folder), "HOSTLER_DRIVER_PATH"});
    }
  }
  for (const char* folder : kSystemFolders) folders.push_back({folder, "hostler"});
  return folders;
}

std::vector<fs::path> paths_of(const std::vector<SearchedFolder>& folders) {
  std::vector<fs::path> out;
  for (const auto& folder : folders) out.push_back(folder.path);
  return out;
}

Discovery discover(const std::vector<fs::path>& folders, const DriverRules& rules) {
  Discovery all;
  std::vector<fs::path> seen;
  for (const auto& folder : folders) {
    std::error_code error;
    const auto same = fs::weakly_canonical(folder, error);
    if (!folder.is_absolute()) {
      all.tried.push_back({folder, "ignored: not an absolute path"});
      continue;
    }
    if (std::find(seen.begin(), seen.end(), same) != seen.end()) continue;
    seen.push_back(same);
    const auto manifests = manifests_in(folder, error);
    if (error || manifests.empty()) {
      all.tried.push_back({folder, error ? error.message() : "no *.hostler.json in it"});
    }
    for (const auto& path : manifests) {
      auto manifest = read_manifest(path, rules);
      if (manifest) {
        const std::string signer =
            manifest->signed_by.empty() ? "" : ", signed by " + manifest->signed_by;
        all.tried.push_back({path, "found '" + manifest->name + "' " + manifest->version + signer});
        all.drivers.push_back(std::move(*manifest));
      } else {
        all.tried.push_back({path, manifest.error().message});
      }
    }
  }
  std::stable_sort(all.drivers.begin(), all.drivers.end(),
                   [](const Manifest& a, const Manifest& b) { return a.name < b.name; });
  return all;
}

}  // namespace hostler::plugin_host
