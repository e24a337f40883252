#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/sandbox.h"

/// How hostlerd starts the process of a driver. Nothing here is secret.
namespace hostler::driver_host {

/// The descriptors that the process finds open, beside its standard streams.
inline constexpr int kCallsFd = 3, kControlFd = 4, kLibraryFd = 5;
/// The first of the driver's own files, in the order of `ChildArguments::own_files`.
inline constexpr int kOwnFilesFd = 6;

/// What the process takes from itself before it loads the driver.
struct SandboxOptions {
  model::Sandbox level = model::Sandbox::kFull;  ///< At most this much, as far as the kernel can.
  model::Sandbox min = model::Sandbox::kNone;    ///< With less the driver is not loaded.
  std::vector<std::string> readable = {};        ///< Files and folders beside the usual ones.
};

struct ChildArguments {
  std::string
      library;     ///< The path of the driver's library, for messages: the open file is loaded.
  int parent = 0;  ///< The process that starts it.
  std::vector<std::string> own_files = {};  ///< The names of the driver's own open files.
  bool is_listed_only = false;              ///< plugin_host::LibraryFile.
  SandboxOptions sandbox;
  std::vector<std::string> cgroups = {};  ///< Folders of those that it enters.
};

std::vector<std::string> to_argv(const std::string& program, const ChildArguments& arguments);
/// Nothing if these are not such arguments.
std::optional<ChildArguments> read_child_arguments(const std::vector<std::string>& argv);

}  // namespace hostler::driver_host
