#include "folder/fields.h"

#include <charconv>
#include <stdexcept>

namespace hostler::local {
namespace {

std::string escaped(const std::string& value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    out += text[i] == 'n' ? '\n' : text[i];
  }
  return out;
}

}  // namespace

Fields Fields::parse(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const auto newline = text.find('\n');
    const auto line = text.substr(0, newline);
    if (newline == std::string_view::npos) break;
    text.remove_prefix(newline + 1);
    if (line == "end") return fields;
    const auto space = line.find(' ');
    if (space == std::string_view::npos || space == 0) break;
    fields.set(std::string(line.substr(0, space)), unescaped(line.substr(space + 1)));
  }
  throw std::runtime_error("is truncated or does not have the format `name value`");
}

std::string Fields::text() const {
  std::string out;
  for (const auto& [name, value] : values_) out += name + " " + escaped(value) + "\n";
  return out + "end\n";
}

std::string Fields::get(const std::string& name, const std::string& fallback) const {
  const auto found = values_.find(name);
  return found == values_.end() ? fallback : found->second;
}

std::int64_t Fields::number(const std::string& name, std::int64_t fallback) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  const std::string& text = found->second;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::runtime_error("`" + name + "` is not a number");
  return value;
}

}  // namespace hostler::local
