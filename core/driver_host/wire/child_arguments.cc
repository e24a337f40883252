#include "core/driver_host/wire/child_arguments.h"

#include <charconv>
#include <iterator>

namespace hostler::driver_host {
namespace {

constexpr const char *kListedOnly = "listed-files", *kAnyFile = "any-file";
constexpr std::ptrdiff_t kFixed = 7;  // Arguments before those whose number varies.

std::optional<int> number_of(const std::string& text) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::vector<std::string> to_argv(const std::string& program, const ChildArguments& arguments) {
  const SandboxOptions& sandbox = arguments.sandbox;
  std::vector<std::string> argv{program,
                                arguments.library,
                                std::to_string(arguments.parent),
                                std::string(to_string(sandbox.level)),
                                std::string(to_string(sandbox.min)),
                                arguments.is_listed_only ? kListedOnly : kAnyFile,
                                std::to_string(arguments.own_files.size())};
  argv.insert(argv.end(), arguments.own_files.begin(), arguments.own_files.end());
  argv.insert(argv.end(), sandbox.readable.begin(), sandbox.readable.end());
  return argv;
}

std::optional<ChildArguments> read_child_arguments(const std::vector<std::string>& argv) {
  if (std::ssize(argv) < kFixed) return std::nullopt;
  const auto parent = number_of(argv[2]), files = number_of(argv[6]);
  const auto level = model::parse_sandbox(argv[3]), min = model::parse_sandbox(argv[4]);
  if (!level || !min || !parent || !files || *files < 0 || std::ssize(argv) - kFixed < *files)
    return std::nullopt;
  const auto first_file = argv.begin() + kFixed, first_readable = first_file + *files;
  return ChildArguments{
      .library = argv[1],
      .parent = *parent,
      .own_files = {first_file, first_readable},
      .is_listed_only = argv[5] == kListedOnly,
      .sandbox = {.level = *level, .min = *min, .readable = {first_readable, argv.end()}}};
}

}  // namespace hostler::driver_host
