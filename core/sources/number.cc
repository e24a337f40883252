#include "core/sources/number.h"

#include <charconv>
#include <system_error>

#include "core/base/text.h"
#include "core/json/document.h"
#include "core/json/pointer.h"

namespace hostler::sources {

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<double> number_at(std::string_view text, const std::string& pointer, const std::string& what,
                         Quotes quotes) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return fail(Errc::kInvalidArgument, what + " is empty");
  json::ParseOptions limits;
  limits.bytes_max = text.size();
  const auto document = json::Document::parse(text, limits);
  const bool is_quoted = quotes == Quotes::kYes;
  if (!document)
    return fail(
        Errc::kInvalidArgument,
        what + (is_quoted ? ": " + printable(document.error().message, 160) : " is not JSON"));
  const auto value = json::at_pointer(document->root(), pointer);
  if (!value) return fail(value.error().code, what + ": " + value.error().message);
  const std::string where = pointer.empty() ? "" : " at " + printable(pointer, 120);
  if (!value->is(json::Kind::kNumber))
    return fail(Errc::kInvalidArgument,
                what + " has " + (is_quoted ? printable(value->found(), 80) : "another thing") +
                    where + ", allowed: a number");
  const auto number = parse_number(value->text());
  if (!number)
    return fail(Errc::kInvalidArgument,
                what + " has " +
                    (is_quoted ? "the number " + printable(value->text(), 40) : "a number") +
                    where + ", which is too large or too small");
  return *number;
}

}  // namespace hostler::sources
