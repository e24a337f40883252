#include "core/plugin_host/offered_files.h"

#include <dlfcn.h>

#include <string_view>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "core/base/text.h"

namespace hostler::plugin_host {
namespace {

/// Written once, before the driver is loaded; never destroyed, since drivers may run until the
/// process ends.
const std::vector<OwnFile>* offered = nullptr;

int32_t descriptor_of(const hostler_host* /*host*/, const char* name) {
  if (name == nullptr) return -1;
  for (const OwnFile& file : *offered)
    if (file.name == name) return file.fd.get();
  return -1;
}

hostler_ext_host_files files_extension = {sizeof(hostler_ext_host_files), 0, &descriptor_of};

bool is_library(std::string_view name) {
  return name.ends_with(".so") || name.find(".so.") != name.npos;
}

Result<void> load(const OwnFile& file) {
  if (::dlopen(path_of_open(file.fd).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != nullptr)
    return {};
  const char* const why = ::dlerror();
  return fail(Errc::kInvalidArgument, "the driver's own library " + file.name + ": " +
                                          printable(why == nullptr ? "" : why));
}

}  // namespace

Result<void> load_libraries(const std::vector<OwnFile>& files) {
  for (const OwnFile& file : files)
    if (is_library(file.name)) HOSTLER_TRY(load(file));
  return {};
}

Result<void> offer_files(LibraryFile& driver) {
  HOSTLER_ASSERT(offered == nullptr, "a process has one driver");
  offered = new std::vector<OwnFile>(std::move(driver.own_files));
  if (driver.is_listed_only) files_extension.flags |= HOSTLER_HOST_FILES_ONLY;
  return load_libraries(*offered);
}

const void* extension_of_host(const hostler_host* /*host*/, const char* id) {
  if (offered == nullptr || id == nullptr) return nullptr;
  return std::string_view(id) == HOSTLER_EXT_HOST_FILES ? &files_extension : nullptr;
}

}  // namespace hostler::plugin_host
