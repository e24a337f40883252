#include "core/crypto/login_keys.h"
#include "core/base/text.h"
#include "tests/fuzz/target.h"

/// The keys of a holder, which go into authorized_keys of a host: one in each line of the input,
/// and the input as one key.
namespace hostler::fuzz {
namespace {

void check_line(const std::string& line) {
  promise(line.find_first_of("\n\r\t\"',\\#") == std::string::npos, "a line needs no quoting",
          line);
  promise(std::string_view(line).substr(line.find(' ') + 1).find(' ') == std::string_view::npos,
          "a line is a type and base64", line);
  const std::string twice[] = {line, line + " a comment"};
  const auto again = crypto::parse_login_keys(std::span(twice, 1));
  promise(again && again->at(0).line() == line, "a key that is taken is taken again", line);
  promise(!crypto::parse_login_keys(twice), "a key is taken once", line);
}

void check(const std::vector<std::string>& lines) {
  const auto keys = crypto::parse_login_keys(lines);
  if (!keys) {
    const std::string& said = keys.error().message;
    promise(is_utf8(said) && said.size() < 400, "an error is a short text", said);
    return;
  }
  promise(keys->size() == lines.size() && keys->size() <= crypto::kLoginKeysMax,
          "each line is a key");
  for (const auto& key : *keys) check_line(key.line());
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  const std::string_view text = fuzz::as_text(data, size);
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) lines.emplace_back(line);
  fuzz::check(lines);
  fuzz::check({std::string(text)});
  return 0;
}
