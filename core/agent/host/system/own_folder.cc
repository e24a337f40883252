#include "core/agent/host/system/own_folder.h"

#include <sys/stat.h>

#include <cerrno>

namespace hostler::agent {

std::string lost_folder(const std::string& path) {
  struct stat here {
  }, there{};
  const bool is_there = ::stat(path.c_str(), &there) == 0;
  if ((!is_there && errno == ENOENT) ||
      (is_there && ::stat(".", &here) == 0 && here.st_ino != there.st_ino))
    return "the agent's folder " + path + " is gone";
  for (const char* part : {"work", "out", "blobs"})
    if (::stat(part, &here) != 0 && errno == ENOENT)
      return "the agent's folder " + path + "/" + part + " is gone";
  return "";
}

}  // namespace hostler::agent
