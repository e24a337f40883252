#include "core/json/document.h"

#include <algorithm>
#include <charconv>

#include "core/base/text.h"
#include "core/json/tree.h"

namespace hostler::json {
namespace {

/// Control characters as JSON writes them: a newline that was a blank would hide what is wrong.
std::string escaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : text.substr(0, 80)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      out += std::string("\\u00") + kHex[byte >> 4U] + kHex[byte & 0xfU];
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string path_step(std::string_view key) {
  const bool plain = !key.empty() && key.size() <= 64 && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return plain ? "." + std::string(key) : "[\"" + printable(key, 64) + "\"]";
}

std::string Tree::path(std::uint32_t node) const {
  std::string out;
  for (; node != kNoNode && nodes[node].parent != kNoNode; node = nodes[node].parent) {
    const std::uint32_t parent = nodes[node].parent;
    if (nodes[parent].kind == Kind::kObject) {
      out.insert(0, path_step(slice(nodes[node].key)));
      continue;
    }
    std::size_t index = parent == shed_of ? shed : 0;
    for (std::uint32_t n = parent + 1; n != node; n = nodes[n].next) ++index;
    out.insert(0, "[" + std::to_string(index) + "]");
  }
  return out.starts_with('.') ? out.substr(1) : out;
}

std::string position_in(std::string_view source, std::size_t offset) {
  const std::string_view before = source.substr(0, offset);
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return std::to_string(lines + 1) + ":" + std::to_string(before.size() - start + 1);
}

Kind Value::kind() const { return tree_->nodes[node_].kind; }

std::string_view Value::text() const { return tree_->slice(tree_->nodes[node_].text); }

std::string_view Value::key() const { return tree_->slice(tree_->nodes[node_].key); }

std::size_t Value::size() const { return tree_->nodes[node_].count; }

Children Value::children() const { return {tree_, node_ + 1, tree_->nodes[node_].next}; }

Children::Iterator& Children::Iterator::operator++() {
  node_ = tree_->nodes[node_].next;
  return *this;
}

bool Value::has(std::string_view key) const {
  if (is(Kind::kObject))
    for (const Value member : children())
      if (member.key() == key) return true;
  return false;
}

Value Value::at(std::string_view key) const {
  if (is(Kind::kObject))
    for (const Value member : children())
      if (member.key() == key) return member;
  // The last node of every tree is a null that is not part of the text (see parse.cc).
  return {tree_, static_cast<std::uint32_t>(tree_->nodes.size() - 1)};
}

std::string_view Value::text_or(std::string_view otherwise) const {
  return is(Kind::kString) ? text() : otherwise;
}

std::int64_t Value::int_or(std::int64_t otherwise) const {
  std::int64_t out = 0;
  const std::string_view digits = text();
  const char* const end = digits.data() + digits.size();
  if (!is(Kind::kNumber)) return otherwise;
  const auto [rest, problem] = std::from_chars(digits.data(), end, out);
  return problem == std::errc() && rest == end ? out : otherwise;
}

bool Value::bool_or(bool otherwise) const { return is(Kind::kBool) ? text() == "true" : otherwise; }

std::string Value::path() const { return tree_->path(node_); }

std::string Value::position() const {
  return position_in(tree_->source, tree_->nodes[node_].offset);
}

std::string Value::found() const {
  switch (kind()) {
    case Kind::kString:
      return "\"" + printable(escaped(text()), 40) + "\"";
    case Kind::kArray:
      return "an array of " + std::to_string(size());
    case Kind::kObject:
      return "an object";
    default:
      return printable(text(), 40);
  }
}

}  // namespace hostler::json
