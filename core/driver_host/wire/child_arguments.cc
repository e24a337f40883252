#include "core/driver_host/wire/child_arguments.h"

#include "core/base/text.h"

namespace hostler::driver_host {
namespace {

using Words = std::vector<std::string>;

constexpr const char *kListedOnly = "listed-files", *kAnyFile = "any-file";
constexpr std::size_t kFixed = 6;  // Arguments before the lists.

void append_list(Words& argv, const Words& list) {
  argv.push_back(std::to_string(list.size()));
  argv.insert(argv.end(), list.begin(), list.end());
}

/// Takes a list from argv, which begins at `at`. False: there is none.
bool take_list(const Words& argv, std::size_t& at, Words& list) {
  const auto size = at < argv.size() ? parse_u64(argv[at]) : std::nullopt;
  if (!size || *size > argv.size() - at - 1) return false;
  const auto first = argv.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  list.assign(first, first + static_cast<std::ptrdiff_t>(*size));
  at += 1 + *size;
  return true;
}

}  // namespace

Words to_argv(const std::string& program, const ChildArguments& arguments) {
  const SandboxOptions& sandbox = arguments.sandbox;
  Words argv{program,
             arguments.library,
             std::to_string(arguments.parent),
             std::string(to_string(sandbox.level)),
             std::string(to_string(sandbox.min)),
             arguments.is_listed_only ? kListedOnly : kAnyFile};
  for (const Words* list : {&arguments.own_files, &sandbox.readable, &arguments.cgroups})
    append_list(argv, *list);
  return argv;
}

std::optional<ChildArguments> read_child_arguments(const Words& argv) {
  if (argv.size() < kFixed) return std::nullopt;
  const auto parent = parse_u64(argv[2]);
  const auto level = model::parse_sandbox(argv[3]), min = model::parse_sandbox(argv[4]);
  if (!level || !min || !parent) return std::nullopt;
  ChildArguments out{.library = argv[1],
                     .parent = static_cast<int>(*parent),
                     .is_listed_only = argv[5] == kListedOnly,
                     .sandbox = {.level = *level, .min = *min}};
  std::size_t at = kFixed;
  for (Words* list : {&out.own_files, &out.sandbox.readable, &out.cgroups})
    if (!take_list(argv, at, *list)) return std::nullopt;
  return out;
}

}  // namespace hostler::driver_host
