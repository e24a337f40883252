#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <cassert>
#include <optional>

#include "core/base/text.h"
#include "core/json/document.h"
#include "core/json/tree.h"

namespace hostler::json {
namespace {

// NOLINTBEGIN(readability-identifier-naming): RapidJSON calls these by name.

/// The input stream of RapidJSON. RapidJSON copies its own stream classes while it parses; it uses
/// this one directly, so that Tell() is correct inside the handler. The text contains no NUL: 0 is
/// its end.
struct TextStream {
  using Ch = char;
  const char* begin;
  const char* at;
  const char* end;
  const char* stop;  ///< The parser gets no further before this is moved; at most `end`.

  [[nodiscard]] Ch Peek() const { return at == stop ? '\0' : *at; }
  Ch Take() { return at == stop ? '\0' : *at++; }
  [[nodiscard]] std::size_t Tell() const { return static_cast<std::size_t>(at - begin); }
  // Only used for in-place parsing.
  Ch* PutBegin() { return assert(false), nullptr; }
  void Put(Ch) { assert(false); }
  void Flush() { assert(false); }
  std::size_t PutEnd(Ch*) { return assert(false), 0; }
};

/// The last node of every tree is a null that is not part of the text: Value::at() needs it.
void add_null(Tree& tree) {
  const Slice null{static_cast<std::uint32_t>(tree.strings.size()), 4};
  tree.strings += "null";
  tree.nodes.push_back(
      Node{.next = static_cast<std::uint32_t>(tree.nodes.size() + 1), .text = null});
}

/// Builds the tree and checks the limits. When a function returns false, the parser stops, and
/// `error` says why.
class Builder {
 public:
  Builder(Tree& tree, TextStream& stream, const ParseOptions& options, const Elements* elements)
      : tree_(tree), stream_(stream), options_(options), elements_(elements) {
    move_stop();
  }

  std::optional<Error> error;

  bool Null() { return leaf(Kind::kNull, "null", 4); }
  bool Bool(bool value) {
    return value ? leaf(Kind::kBool, "true", 4) : leaf(Kind::kBool, "false", 5);
  }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    return leaf(Kind::kNumber, {text, length}, length);
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    const std::string_view decoded(text, length);
    const std::size_t start = string_start();
    return valid(decoded, start) && leaf(Kind::kString, decoded, stream_.Tell() - start);
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    const std::string_view decoded(text, length);
    const std::size_t start = string_start();
    if (!valid(decoded, start)) return false;
    key_ = keep(decoded);
    if (open_ == 0) move_stop();
    return true;
  }
  bool StartObject() { return open(Kind::kObject); }
  bool StartArray() { return open(Kind::kArray); }
  bool EndArray(rapidjson::SizeType) { return close(); }
  bool EndObject(rapidjson::SizeType) { return keys_are_unique() && close(); }

  // Never called with kParseNumbersAsStringsFlag.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  // NOLINTEND(readability-identifier-naming)

  [[nodiscard]] std::string open_path() const { return tree_.path(open_); }

 private:
  bool leaf(Kind kind, std::string_view text, std::size_t length_in_source) {
    if (!add(kind, stream_.Tell() - length_in_source)) return false;
    tree_.nodes.back().text = keep(text);
    tree_.nodes.back().next = static_cast<std::uint32_t>(tree_.nodes.size());
    return ended(static_cast<std::uint32_t>(tree_.nodes.size() - 1));
  }

  bool open(Kind kind) {
    if (++depth_ > options_.depth_max)
      return refuse(Errc::kTooLarge, stream_.Tell(),
                    "nested too deeply; at most " + std::to_string(options_.depth_max) +
                        " levels of arrays and objects are allowed");
    if (!add(kind, stream_.Tell())) return false;
    if (elements_ != nullptr && kind == Kind::kArray && depth_ == 2 &&
        tree_.slice(tree_.nodes.back().key) == elements_->key)
      tree_.shed_of = static_cast<std::uint32_t>(tree_.nodes.size() - 1);
    open_ = static_cast<std::uint32_t>(tree_.nodes.size() - 1);
    return true;
  }

  bool close() {
    --depth_;
    const std::uint32_t closed = open_;
    tree_.nodes[closed].next = static_cast<std::uint32_t>(tree_.nodes.size());
    open_ = tree_.nodes[closed].parent;
    return ended(closed);
  }

  /// A value is complete. An element that is read while the text is parsed goes then.
  bool ended(std::uint32_t node) {
    if (depth_ <= 2) move_stop();
    if (open_ == kNoNode || open_ != tree_.shed_of) return true;
    add_null(tree_);
    const bool goes_on = elements_->read({&tree_, node});
    tree_.nodes.resize(node);
    tree_.strings.resize(element_strings_);
    ++tree_.shed;
    return goes_on;
  }

  /// Text without a complete value is read to here at most, if elements have a limit.
  void move_stop() {
    const bool whole_is_complete = depth_ == 0 && !tree_.nodes.empty();
    const auto left = static_cast<std::size_t>(stream_.end - stream_.at);
    const bool all = elements_ == nullptr || whole_is_complete || left <= elements_->bytes_max;
    stream_.stop = all ? stream_.end : stream_.at + elements_->bytes_max;
  }

  bool begin_element(std::size_t offset) {
    element_strings_ = tree_.strings.size();
    // Of all arrays of this key together: the second one is refused only at the end.
    if (tree_.shed < elements_->max) return true;
    return refuse(Errc::kTooLarge, offset,
                  "found an array of more than " + std::to_string(elements_->max) +
                      ", allowed: at most " + std::to_string(elements_->max));
  }

  bool add(Kind kind, std::size_t offset) {
    if (tree_.nodes.size() >= options_.values_max)
      return refuse(Errc::kTooLarge, offset,
                    "more than " + std::to_string(options_.values_max) + " values");
    if (open_ != kNoNode && open_ == tree_.shed_of && !begin_element(offset)) return false;
    Node node{.kind = kind, .parent = open_, .offset = static_cast<std::uint32_t>(offset)};
    if (open_ != kNoNode) {
      ++tree_.nodes[open_].count;
      if (tree_.nodes[open_].kind == Kind::kObject) node.key = key_;
    }
    tree_.nodes.push_back(node);
    return true;
  }

  bool keys_are_unique() {
    keys_.clear();
    for (std::uint32_t n = open_ + 1; n < tree_.nodes.size(); n = tree_.nodes[n].next)
      keys_.emplace_back(tree_.slice(tree_.nodes[n].key), n);
    std::ranges::sort(keys_);
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    const auto twice = std::ranges::adjacent_find(keys_, same);
    if (twice == keys_.end()) return true;
    const std::uint32_t second = std::next(twice)->second;
    error = Error{Errc::kInvalidArgument,
                  "the key occurs twice, allowed once (at " +
                      position_in(tree_.source, tree_.nodes[second].offset) + ")",
                  tree_.path(second)};
    return false;
  }

  bool valid(std::string_view decoded, std::size_t start) {
    // The parser accepts a lone low surrogate. \u0000 is checked when the string is read.
    for (std::string_view rest = decoded; !rest.empty();) {
      const std::size_t nul = std::min(rest.find('\0'), rest.size());
      if (!is_utf8(rest.substr(0, nul)))
        return refuse(Errc::kInvalidArgument, start, "a string that is not UTF-8");
      rest.remove_prefix(std::min(nul + 1, rest.size()));
    }
    return true;
  }

  /// Start of the string that ends here: the last quote that has no backslash before it.
  [[nodiscard]] std::size_t string_start() const {
    const char* at = stream_.at - 2;
    while (*at != '"' || (at > stream_.begin && at[-1] == '\\')) --at;
    return static_cast<std::size_t>(at - stream_.begin);
  }

  Slice keep(std::string_view text) {
    const Slice out{static_cast<std::uint32_t>(tree_.strings.size()),
                    static_cast<std::uint32_t>(text.size())};
    tree_.strings += text;
    return out;
  }

  bool refuse(Errc code, std::size_t offset, const std::string& what) {
    error = Error{code, what + " (at " + position_in(tree_.source, offset) + ")", open_path()};
    return false;
  }

  Tree& tree_;
  TextStream& stream_;
  const ParseOptions& options_;
  const Elements* elements_;
  std::size_t element_strings_ = 0;  ///< Size of Tree::strings where the element begins.
  std::uint32_t open_ = kNoNode;
  std::uint32_t depth_ = 0;
  Slice key_;
  std::vector<std::pair<std::string_view, std::uint32_t>> keys_;
};

/// The iterative parser: the recursive one overflows the stack on deeply nested text.
constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;

/// Puts the path in front of the message, because some callers pass on only the message.
Error with_path(Error error) {
  if (!error.path.empty()) error.message.insert(0, error.path + ": ");
  return error;
}

}  // namespace

Result<Document> Document::parse(std::string_view text, const ParseOptions& options) {
  auto tree = std::make_shared<Tree>();
  if (text.size() <= options.bytes_max) tree->copy = text;
  tree->source = text.size() <= options.bytes_max ? std::string_view(tree->copy) : text;
  return parse_into(std::move(tree), options, nullptr);
}

Result<Document> Document::parse(std::string_view text, const ParseOptions& options,
                                 const Elements& elements) {
  auto tree = std::make_shared<Tree>();
  tree->source = text;
  return parse_into(std::move(tree), options, &elements);
}

Result<Document> Document::parse_into(std::shared_ptr<Tree> tree, const ParseOptions& options,
                                      const Elements* elements) {
  const std::string_view text = tree->source;
  if (text.size() > options.bytes_max)
    return fail(Errc::kTooLarge, "JSON of " + std::to_string(text.size()) + " bytes; at most " +
                                     std::to_string(options.bytes_max) + " are allowed");
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return fail(Errc::kInvalidArgument, "not JSON: a NUL byte (at " + position_in(text, nul) + ")");

  tree->nodes.reserve(std::min<std::size_t>(text.size() / 8 + 2, 4096));
  const char* const end = text.data() + text.size();
  TextStream stream{text.data(), text.data(), end, end};
  Builder builder(*tree, stream, options, elements);
  rapidjson::Reader reader;
  const rapidjson::ParseResult result =
      options.comments ? reader.Parse<kFlags | rapidjson::kParseCommentsFlag>(stream, builder)
                       : reader.Parse<kFlags>(stream, builder);
  if (builder.error) return tl::unexpected(with_path(*std::move(builder.error)));
  if (result.IsError() && stream.at == stream.stop && stream.stop != stream.end)
    return tl::unexpected(with_path({Errc::kTooLarge,
                                     "a value of more than " + std::to_string(elements->bytes_max) +
                                         " bytes (at " + position_in(text, stream.Tell()) + ")",
                                     builder.open_path()}));
  if (result.IsError())
    return tl::unexpected(
        with_path({Errc::kInvalidArgument,
                   std::string("not JSON: ") + rapidjson::GetParseError_En(result.Code()) +
                       " (at " + position_in(tree->source, result.Offset()) + ")",
                   builder.open_path()}));
  add_null(*tree);
  return Document(std::move(tree));
}

}  // namespace hostler::json
