#include "core/ssh/scripts.h"

#include <algorithm>

#include "core/base/assert.h"

namespace hostler::ssh::scripts {

namespace {
/// The command line for any login shell. sudo would remove the variables.
std::string with_rights(std::string_view prefix, std::string_view command) {
  if (prefix.empty()) return std::string(command);
  return "sh -c 'exec " + std::string(prefix) +
         "env ${HOSTLER_AGENT_DIR:+\"HOSTLER_AGENT_DIR=$HOSTLER_AGENT_DIR\"} "
         "${HOSTLER_HOST_KEY:+\"HOSTLER_HOST_KEY=$HOSTLER_HOST_KEY\"} " +
         std::string(command) + "'";
}
}  // namespace

std::string command(std::string_view prefix, std::initializer_list<std::string_view> arguments) {
  constexpr std::string_view kHarmless = "_./+=:-";
  std::string out = "sh -s --";
  for (const std::string_view argument : arguments) {
    const bool harmless = !argument.empty() && std::ranges::all_of(argument, [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             kHarmless.find(c) != std::string_view::npos;
    });
    HOSTLER_ASSERT(harmless, "an argument of a script needs no quoting");
    out.append(" ").append(argument);
  }
  return with_rights(prefix, out);
}

std::string_view answer(std::string_view output, std::string_view word, std::string_view nonce) {
  const std::string begin = std::string(word) + " " + std::string(nonce) + " ";
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = output.find('\n', at);
    if (end == std::string_view::npos) break;  // not a whole line
    std::string_view line = output.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(begin)) return line.substr(begin.size());
    at = end + 1;
  }
  return {};
}

std::string end_of(std::string_view text) {
  std::string end = "HOSTLER_END";
  while (text.find(end) != std::string_view::npos) end += '_';
  return end;
}

std::string fill(std::string_view script,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  constexpr std::string_view kNameSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = script.find('@'); at != std::string_view::npos;) {
    const std::size_t end = script.find_first_not_of(kNameSigns, at + 1);
    if (end == std::string_view::npos || script[end] != '@' || end == at + 1) {
      at = script.find('@', at + 1);
      continue;
    }
    const std::string_view name = script.substr(at + 1, end - at - 1);
    const auto* const value =
        std::ranges::find(values, name, &std::pair<std::string_view, std::string_view>::first);
    HOSTLER_ASSERT(value != values.end(), "each name of a script has a value");
    out.append(script.substr(copied, at - copied)).append(value->second);
    copied = end + 1;
    if ((at == 0 || script[at - 1] == '\n') && script.substr(copied).starts_with('\n') &&
        (value->second.empty() || value->second.ends_with('\n')))
      ++copied;
    at = script.find('@', copied);
  }
  return out.append(script.substr(copied));
}

}  // namespace hostler::ssh::scripts
