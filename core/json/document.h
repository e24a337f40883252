#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"

/// Parsing of JSON that is not trusted, under limits. Every error names the path
/// (`pools[0].types[2].price`), the position (line:column), the value found and the values allowed.
/// Only this folder uses RapidJSON and valijson.
namespace hostler::json {

/// Exceeding a limit is Errc::kTooLarge; every other error is Errc::kInvalidArgument.
struct ParseOptions {
  std::size_t bytes_max = std::size_t{1} << 20U;
  std::uint32_t depth_max = 32;        ///< Nesting of arrays and objects.
  std::uint32_t values_max = 200'000;  ///< Number of all values, members and elements.
  bool comments = false;               ///< Allow `//` and `/* */`, for files that people write.
};

class Value;

/// The elements of one long array that are read and dropped while the text is parsed, so that
/// memory holds one of them at a time.
struct Elements {
  std::string_view key;       ///< Of the array, which is a member of the whole document.
  std::size_t max = 0;        ///< One more is refused (kTooLarge).
  std::size_t bytes_max = 0;  ///< Of the text of one element (kTooLarge).
  /// Called with each element, which is valid until the call returns. False: the parse ends with an
  /// error that the caller replaces by its own.
  std::function<bool(Value)> read;
};

enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

struct Tree;
class Children;

/// A reference to one value in a Document. Cheap to copy; valid as long as the document exists.
class Value {
 public:
  Value(const Tree* tree, std::uint32_t node) : tree_(tree), node_(node) {}

  [[nodiscard]] Kind kind() const;
  [[nodiscard]] bool is(Kind wanted) const { return kind() == wanted; }
  /// The decoded string (may contain NUL), the number as written, "true", "false" or "null"; empty
  /// for arrays and objects.
  [[nodiscard]] std::string_view text() const;
  /// The key, if the value is a member of an object; else empty.
  [[nodiscard]] std::string_view key() const;
  /// Number of elements of an array or members of an object; 0 for other values.
  [[nodiscard]] std::size_t size() const;
  /// Elements or members in the order of the text: `for (json::Value v : value.children())`.
  [[nodiscard]] Children children() const;

  // For JSON that hostler itself wrote. These return `otherwise` if the value is missing or of
  // another kind, and never fail. Read other JSON with json::Object (reader.h).
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] Value at(std::string_view key) const;  ///< A null value if there is none.
  [[nodiscard]] std::string_view text_or(std::string_view otherwise) const;
  [[nodiscard]] std::int64_t int_or(std::int64_t otherwise) const;
  [[nodiscard]] bool bool_or(bool otherwise) const;

  /// "pools[0].types[2]"; empty for the whole document.
  [[nodiscard]] std::string path() const;
  /// "12:5": line and column in the text, from 1; columns count bytes.
  [[nodiscard]] std::string position() const;
  /// A short description for messages: `"abc..."`, `17`, `an array of 3`.
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

/// A parsed text with all its values. Immutable; any thread may read it.
class Document {
 public:
  /// Fails if the text is not strict JSON (RFC 8259) in UTF-8, has the same key twice in an object,
  /// or exceeds a limit. bytes_max and values_max bound the memory.
  static Result<Document> parse(std::string_view text, const ParseOptions& options = {});
  /// The same without the elements that were read meanwhile: their array is empty in the document.
  /// values_max bounds what is in memory at a time. The text must outlive the document.
  static Result<Document> parse(std::string_view text, const ParseOptions& options,
                                const Elements& elements);

  [[nodiscard]] Value root() const { return {tree_.get(), 0}; }

 private:
  static Result<Document> parse_into(std::shared_ptr<Tree> tree, const ParseOptions& options,
                                     const Elements* elements);
  explicit Document(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}
  std::shared_ptr<const Tree> tree_;
};

/// A key as the last part of a path: ".key" or `["odd key"]`.
std::string path_step(std::string_view key);

}  // namespace hostler::json
