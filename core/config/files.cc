#include "core/base/files.h"

#include <charconv>

#include "core/base/trusted_file.h"
#include "core/config/readers.h"

namespace hostler::config {
namespace {

void replace_all(std::string& text, std::string_view old, const std::string& with) {
  for (std::size_t at = text.find(old); at != std::string::npos;
       at = text.find(old, at + with.size()))
    text.replace(at, old.size(), with);
}

}  // namespace

std::string expand(const Context& context, std::string text) {
  replace_all(text, "${state_dir}", context.state_dir.string());
  replace_all(text, "${config_dir}", context.folder.string());
  return text;
}

bool read_path(const json::Field& field, const Context& context, std::string& out) {
  std::string text;
  if (!field.text(text, {.bytes_max = 4096, .bytes_min = 1, .one_line = true})) return false;
  out = (context.folder / expand(context, text)).lexically_normal();
  return true;
}

bool read_secret(const json::Field& field, const Context& context, std::string& path,
                 std::string& content) {
  if (!read_path(field, context, path)) return false;
  if (!context.options.read_files) return false;
  auto read = context.options.trusted_only ? read_trusted_secret_file(path, kSecretFileMax)
                                           : read_secret_file(path, kSecretFileMax);
  if (!read) return field.problem(read.error().message);
  content = *std::move(read);
  return true;
}

bool read_named_file(const json::Field& field, const Context& context, std::size_t bytes_max,
                     std::string& path, std::string& content) {
  if (!read_path(field, context, path) || !context.options.read_files) return false;
  auto read = context.options.trusted_only ? read_trusted_file(path, bytes_max)
                                           : read_file(path, bytes_max);
  if (!read) return field.problem(read.error().message);
  content = *std::move(read);
  return true;
}

std::optional<unsigned> parse_mode(std::string_view text) {
  unsigned mode = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, mode, 8);
  if (problem != std::errc() || rest != end) return std::nullopt;
  return mode;
}

}  // namespace hostler::config
