#include "core/json/pointer.h"

#include <optional>
#include <string>

#include "core/base/text.h"

namespace hostler::json {
namespace {

/// nullopt: a "~" that means nothing.
std::optional<std::string> unescaped(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] != '~') {
      out += step[i];
      continue;
    }
    if (++i == step.size() || (step[i] != '0' && step[i] != '1')) return std::nullopt;
    out += step[i] == '0' ? '~' : '/';
  }
  return out;
}

/// nullopt: it is no index, or one that the array does not have.
std::optional<Value> element_of(Value array, std::string_view step) {
  const bool has_zeros = step.size() > 1 && step[0] == '0';
  const auto index = parse_u64(step);
  if (!index || has_zeros || *index >= array.size()) return std::nullopt;
  std::uint64_t at = 0;
  for (const Value element : array.children())
    if (at++ == *index) return element;
  return std::nullopt;
}

std::optional<Value> child_of(Value from, std::string_view step) {
  if (from.is(Kind::kArray)) return element_of(from, step);
  if (!from.is(Kind::kObject) || !from.has(step)) return std::nullopt;
  return from.at(step);
}

}  // namespace

Result<void> check_pointer(std::string_view pointer) {
  if (!pointer.empty() && pointer[0] != '/')
    return fail(Errc::kInvalidArgument,
                "a JSON pointer begins with \"/\", as in \"/data/0/value\"");
  if (!unescaped(pointer))
    return fail(Errc::kInvalidArgument,
                "\"~\" in a JSON pointer is written \"~0\", and \"/\" in a key \"~1\"");
  return {};
}

Result<Value> at_pointer(Value from, std::string_view pointer) {
  HOSTLER_TRY(check_pointer(pointer));
  if (pointer.empty()) return from;
  for (const std::string_view part : split(pointer.substr(1), '/')) {
    const std::string step = unescaped(part).value_or("");
    const auto next = child_of(from, step);
    if (!next)
      return fail(Errc::kNotFound,
                  "there is no " + printable(step, 60) + " in " +
                      (from.path().empty() ? "the document" : printable(from.path(), 120)));
    from = *next;
  }
  return from;
}

}  // namespace hostler::json
