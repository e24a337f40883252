#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"

/// JSON that someone else wrote, parsed under limits. Every error says the path
/// (`pools[0].types[2].price`), the place (line:column), what was found and what is allowed.
/// Only this directory knows RapidJSON.
namespace hostler::json {

/// Passing a limit is Errc::kTooLarge; everything else wrong is Errc::kInvalidArgument.
struct ParseOptions {
  std::size_t bytes_max = std::size_t{1} << 20U;
  std::uint32_t depth_max = 32;        ///< Of arrays and objects in one another.
  std::uint32_t values_max = 200'000;  ///< Values in all, members and elements alike.
  bool comments = false;               ///< `//` and `/* */`; for files that people keep.
};

enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

struct Tree;
class Children;

/// One value inside a Document; a handle, cheap to copy, valid for as long as the document lives.
class Value {
 public:
  Value(const Tree* tree, std::uint32_t node) : tree_(tree), node_(node) {}

  [[nodiscard]] Kind kind() const;
  [[nodiscard]] bool is(Kind wanted) const { return kind() == wanted; }
  /// A string decoded (may hold NUL), a number as written, "true", "false" or "null"; else empty.
  [[nodiscard]] std::string_view text() const;
  /// The key of an object's member; else empty.
  [[nodiscard]] std::string_view key() const;
  /// Elements of an array, members of an object; 0 for all else.
  [[nodiscard]] std::size_t size() const;
  /// In the order of the text; `for (json::Value v : value.children())`.
  [[nodiscard]] Children children() const;

  // For readers of what hostler itself wrote: never an error, `otherwise` where it is not there or
  // of another kind. What others wrote is read with json::Object (reader.h).
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] Value at(std::string_view key) const;  ///< A null where there is none.
  [[nodiscard]] std::string_view text_or(std::string_view otherwise) const;
  [[nodiscard]] std::int64_t int_or(std::int64_t otherwise) const;
  [[nodiscard]] bool bool_or(bool otherwise) const;

  /// "pools[0].types[2]"; empty for the whole document.
  [[nodiscard]] std::string path() const;
  /// "12:5": line and column in the text, from 1; columns count bytes.
  [[nodiscard]] std::string position() const;
  /// What it is, for a message, shortened: `"abc..."`, `17`, `an array of 3`.
  [[nodiscard]] std::string found() const;

 private:
  friend class Children;
  const Tree* tree_;
  std::uint32_t node_;
};

class Children {
 public:
  class Iterator {
   public:
    Iterator(const Tree* tree, std::uint32_t node) : tree_(tree), node_(node) {}
    Value operator*() const { return {tree_, node_}; }
    Iterator& operator++();
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Tree* tree_;
    std::uint32_t node_;
  };
  Children(const Tree* tree, std::uint32_t first, std::uint32_t end)
      : tree_(tree), first_(first), end_(end) {}
  [[nodiscard]] Iterator begin() const { return {tree_, first_}; }
  [[nodiscard]] Iterator end() const { return {tree_, end_}; }

 private:
  const Tree* tree_;
  std::uint32_t first_, end_;
};

/// A parsed text and all of its values. Immutable; may be read from any thread.
class Document {
 public:
  /// Refuses whatever is no strict JSON (RFC 8259) of UTF-8, has a key twice in one object, or
  /// passes a limit. Memory is bounded by bytes_max and values_max.
  static Result<Document> parse(std::string_view text, const ParseOptions& options = {});

  [[nodiscard]] Value root() const { return {tree_.get(), 0}; }

 private:
  explicit Document(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}
  std::shared_ptr<const Tree> tree_;
};

/// `"key"` or `key`, as it is shown after a path: ".key" or `["odd key"]`.
std::string path_step(std::string_view key);

}  // namespace hostler::json
