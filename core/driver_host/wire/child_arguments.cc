#include "core/driver_host/wire/child_arguments.h"

#include <charconv>

namespace hostler::driver_host {

std::vector<std::string> to_argv(const std::string& program, const ChildArguments& arguments) {
  return {program, arguments.library, std::to_string(arguments.parent), arguments.sandbox};
}

std::optional<ChildArguments> read_child_arguments(const std::vector<std::string>& argv) {
  if (argv.size() != 4) return std::nullopt;
  ChildArguments arguments{.library = argv[1], .sandbox = argv[3]};
  const std::string& parent = argv[2];
  const auto read = std::from_chars(parent.data(), parent.data() + parent.size(), arguments.parent);
  if (read.ec != std::errc() || read.ptr != parent.data() + parent.size()) return std::nullopt;
  return arguments;
}

}  // namespace hostler::driver_host
