#include "core/driver_host/wire/child_arguments.h"

#include <charconv>

namespace hostler::driver_host {

std::vector<std::string> to_argv(const std::string& program, const ChildArguments& arguments) {
  const SandboxOptions& sandbox = arguments.sandbox;
  std::vector<std::string> argv{program, arguments.library, std::to_string(arguments.parent),
                                std::string(to_string(sandbox.level)),
                                std::string(to_string(sandbox.min))};
  argv.insert(argv.end(), sandbox.readable.begin(), sandbox.readable.end());
  return argv;
}

std::optional<ChildArguments> read_child_arguments(const std::vector<std::string>& argv) {
  if (argv.size() < 5) return std::nullopt;
  const auto level = model::parse_sandbox(argv[3]), min = model::parse_sandbox(argv[4]);
  if (!level || !min) return std::nullopt;
  ChildArguments arguments{
      .library = argv[1],
      .sandbox = {.level = *level, .min = *min, .readable = {argv.begin() + 5, argv.end()}}};
  const std::string& parent = argv[2];
  const auto read = std::from_chars(parent.data(), parent.data() + parent.size(), arguments.parent);
  if (read.ec != std::errc() || read.ptr != parent.data() + parent.size()) return std::nullopt;
  return arguments;
}

}  // namespace hostler::driver_host
