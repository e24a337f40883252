#include "core/base/files.h"

#include <algorithm>
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

bool read_command(const json::Field& field, const Context* context, std::vector<std::string>& out) {
  if (field.present() && !field.value()->is(json::Kind::kArray))
    return field.refuse(
        "an array: the absolute path of a program and its arguments, such as "
        "[\"/usr/bin/redis-cli\", \"llen\", \"tasks\"]");
  std::vector<std::string> words;
  if (!field.texts(words, 64, {.bytes_max = 4096})) return false;
  if (context != nullptr)
    for (auto& word : words) word = expand(*context, std::move(word));
  if (words.empty() || !std::filesystem::path(words[0]).is_absolute())
    return field.problem("it must begin with the absolute path of a program");
  out = std::move(words);
  return true;
}

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::optional<unsigned> parse_mode(std::string_view text) {
  unsigned mode = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, mode, 8);
  if (problem != std::errc() || rest != end) return std::nullopt;
  return mode;
}

}  // namespace hostler::config
