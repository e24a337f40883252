#include "core/agent/host/server/card_tool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "core/agent/host/system/launch.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

/// Columns that all versions since 2016 have: one that a version does not know fails the whole
/// query. core/cards/read_nvidia.cc reads them in this order.
constexpr const char* kNvidiaQuery =
    "--query-gpu=index,uuid,pci.bus_id,name,memory.total,driver_version,"
    "ecc.errors.uncorrected.volatile.total,retired_pages.pending";

/// Empty: it is in none of the folders.
std::string find_program(std::string_view name, std::string_view folders) {
  for (const std::string_view folder : split(folders, ':')) {
    if (!folder.starts_with('/')) continue;
    std::string path = std::string(folder) + "/" + std::string(name);
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        ::access(path.c_str(), X_OK) == 0)
      return path;
  }
  return "";
}

}  // namespace

std::string card_tool_folders() {
  const char* given = std::getenv("PATH");
  return std::string(given != nullptr && *given != '\0' ? given : kDefaultPath) + ":/opt/rocm/bin";
}

CardTool find_card_tool(const std::string& cards_command, std::string_view folders) {
  if (!cards_command.empty()) return {Cards::Tool::kCommand, {"/bin/sh", "-c", cards_command}};
  if (const auto path = find_program("nvidia-smi", folders); !path.empty())
    return {Cards::Tool::kNvidia, {path, kNvidiaQuery, "--format=csv,noheader,nounits"}};
  if (const auto path = find_program("rocm-smi", folders); !path.empty())
    return {Cards::Tool::kRocm,
            {path, "--showuniqueid", "--showbus", "--showproductname", "--showmeminfo", "vram",
             "--showdriverversion", "--json"}};
  return {};
}

}  // namespace hostler::agent
