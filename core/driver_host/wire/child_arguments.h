#pragma once

#include <optional>
#include <string>
#include <vector>

/// How hostlerd starts the process of a driver. Nothing here is secret.
namespace hostler::driver_host {

/// The descriptors that the process finds open, beside its standard streams.
inline constexpr int kCallsFd = 3, kControlFd = 4, kLibraryFd = 5;

struct ChildArguments {
  std::string
      library;     ///< The path of the driver's library, for messages: the open file is loaded.
  int parent = 0;  ///< The process that starts it.
  std::string sandbox = "full";  ///< "full", "files" or "none": at most this much.
};

std::vector<std::string> to_argv(const std::string& program, const ChildArguments& arguments);
/// Nothing if these are not such arguments.
std::optional<ChildArguments> read_child_arguments(const std::vector<std::string>& argv);

}  // namespace hostler::driver_host
