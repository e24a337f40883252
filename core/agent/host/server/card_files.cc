#include "core/agent/host/server/card_files.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>

#include "core/agent/host/system/os.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

struct CloseListing {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

/// Names in the folder, sorted; none if it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, CloseListing> dir(::opendir(folder.c_str()));
  if (!dir) return out;
  while (const dirent* entry = ::readdir(dir.get())) out.emplace_back(entry->d_name);
  std::ranges::sort(out);
  return out;
}

bool is_numbered(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && parse_u64(name.substr(prefix.size())).has_value();
}

/// "Device Minor: 	 3" of each card, as the driver's own file says.
std::map<std::string, std::string> nvidia_addresses(const std::string& root) {
  constexpr std::string_view kKey = "Device Minor:";
  std::map<std::string, std::string> out;
  for (const std::string& bus : names_in(root)) {
    const std::string text = read_small((root + "/" + bus + "/information").c_str());
    for (std::string_view line : split(text, '\n')) {
      if (!line.starts_with(kKey)) continue;
      line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
      const auto minor = parse_u64(line.substr(0, line.find_first_not_of("0123456789")));
      if (minor) out["nvidia" + std::to_string(*minor)] = bus;
    }
  }
  return out;
}

/// The last part of what "card0/device" points to.
std::string drm_address(const std::string& root, const std::string& name) {
  char target[4096];
  const ssize_t n = ::readlink((root + "/" + name + "/device").c_str(), target, sizeof target);
  if (n <= 0) return "";
  const std::string_view path(target, static_cast<std::size_t>(n));
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace

std::vector<Cards::File> find_card_files(const CardRoots& roots) {
  std::vector<Cards::File> out;
  const auto addresses = nvidia_addresses(roots.nvidia);
  for (const std::string& name : names_in(roots.devices + "/dri"))
    if (is_numbered(name, "card") || is_numbered(name, "renderD"))
      out.push_back({roots.devices + "/dri/" + name, drm_address(roots.drm, name)});
  for (const std::string& name : names_in(roots.devices)) {
    if (!is_numbered(name, "nvidia")) continue;
    const auto found = addresses.find(name);
    out.push_back({roots.devices + "/" + name, found == addresses.end() ? "" : found->second});
  }
  out.resize(std::min(out.size(), kCardFilesMax));
  return out;
}

}  // namespace hostler::agent
