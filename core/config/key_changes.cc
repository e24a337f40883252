#include "core/config/key_changes.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/config/diff.h"
#include "core/json/document.h"
#include "core/json/writer.h"

namespace hostler::config {
namespace {

using json::Kind;
using json::Value;

constexpr std::size_t kShownMax = 200;  ///< Bytes of a value.

bool is_named_list(const Value& list) {
  if (!list.is(Kind::kArray) || list.size() == 0) return false;
  for (const Value one : list.children())
    if (!one.at("name").is(Kind::kString)) return false;
  return true;
}

/// Settings of drivers and of the database, addresses of metrics and arguments of programs may be
/// secrets although they should not.
bool may_be_secret(std::string_view path) {
  constexpr std::array<std::string_view, 5> kParts{".config", "postgres", "credentials",
                                                   ".source.http.url", ".source.exec.command"};
  return std::ranges::any_of(kParts, [&](auto part) { return path.find(part) != path.npos; });
}

void write_masked(json::Writer& w, const Value& value, const std::string& path) {
  if (may_be_secret(path)) {
    w.value("...");
  } else if (value.is(Kind::kObject)) {
    w.begin_object();
    for (const Value one : value.children())
      write_masked(w.key(one.key()), one, path + json::path_step(one.key()));
    w.end_object();
  } else if (value.is(Kind::kArray)) {
    w.begin_array();
    for (const Value one : value.children()) write_masked(w, one, path + "[]");
    w.end_array();
  } else {
    w.value(value);
  }
}

class Comparison {
 public:
  void compare(const std::optional<Value>& a, const std::optional<Value>& b) {
    if (a && b && a->is(Kind::kObject) && b->is(Kind::kObject)) return members(*a, *b);
    const bool lists = (!a || is_named_list(*a)) && (!b || is_named_list(*b));
    if (lists && (a || b)) return elements(a, b);
    if (a && b && json::to_text(*a) == json::to_text(*b)) return;
    const std::string path = b ? b->path() : a->path();
    changes.push_back({.path = path, .name = name_, .from = shown(a, path), .to = shown(b, path)});
  }

  std::vector<KeyChange> changes;

 private:
  static std::string shown(const std::optional<Value>& value, const std::string& path) {
    if (!value) return {};
    if (may_be_secret(path)) return "...";
    std::string out;
    json::Writer w(out);
    write_masked(w, *value, path);
    return printable(out, kShownMax);
  }
  static std::optional<Value> member(const Value& of, std::string_view key) {
    return of.has(key) ? std::optional(of.at(key)) : std::nullopt;
  }
  void members(const Value& a, const Value& b) {
    for (const Value one : a.children()) compare(one, member(b, one.key()));
    for (const Value one : b.children())
      if (!a.has(one.key())) compare(std::nullopt, one);
  }
  /// By their names.
  void elements(const std::optional<Value>& a, const std::optional<Value>& b) {
    std::map<std::string_view, Value> before;
    if (a)
      for (const Value one : a->children()) before.emplace(one.at("name").text(), one);
    const std::string outer = name_;
    if (b)
      for (const Value one : b->children()) {
        const auto found = before.find(one.at("name").text());
        name_ = one.at("name").text();
        compare_one(found == before.end() ? std::nullopt : std::optional(found->second), one);
        if (found != before.end()) before.erase(found);
      }
    for (const auto& [name, one] : before) {
      name_ = name;
      compare_one(one, std::nullopt);
    }
    name_ = outer;
  }
  /// One that was added or removed is one change, not one for each key.
  void compare_one(const std::optional<Value>& a, const std::optional<Value>& b) {
    if (a && b) return members(*a, *b);
    const std::string path = b ? b->path() : a->path();
    changes.push_back({.path = path, .name = name_, .from = shown(a, path), .to = shown(b, path)});
  }

  std::string name_;
};

/// A key of diff(), which may stand for several changes.
struct Entry {
  DiffKey key;
  bool needs_restart = false;
  bool explained = false;

  /// The change is one of those that the entry stands for.
  [[nodiscard]] bool covers(const KeyChange& change) const {
    const std::string_view path = change.path;
    const bool is_below =
        path.starts_with(key.path) || std::string_view(key.path).starts_with(path);
    return is_below && (key.name.empty() || change.name.empty() || key.name == change.name);
  }
};

}  // namespace

std::vector<KeyChange> key_changes(const Config& old, const Config& fresh) {
  Diff all = diff(old, fresh);
  std::vector<Entry> entries;
  for (auto& key : all.restart) entries.push_back({std::move(key), true});
  for (auto& key : all.live) entries.push_back({std::move(key), false});
  constexpr json::ParseOptions kOptions{.bytes_max = std::size_t{4} << 20, .comments = true};
  const auto a = json::Document::parse(old.text, kOptions);
  const auto b = json::Document::parse(fresh.text, kOptions);
  Comparison comparison;
  if (a && b) comparison.compare(a->root(), b->root());
  std::vector<KeyChange> out;
  for (KeyChange& change : comparison.changes) {
    bool is_real = false;  // Else the value is only written in another way.
    for (Entry& entry : entries) {
      if (!entry.covers(change)) continue;
      is_real = entry.explained = true;
      change.needs_restart = change.needs_restart || entry.needs_restart;
    }
    if (is_real) out.push_back(std::move(change));
  }
  for (const Entry& entry : entries)
    if (!entry.explained)
      out.push_back({.path = entry.key.path,
                     .name = entry.key.name,
                     .from = {},
                     .to = {},
                     .needs_restart = entry.needs_restart});
  return out;
}

}  // namespace hostler::config
