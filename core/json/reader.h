#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/json/document.h"

/// Typed reading of JSON that reports all problems, not only the first. A problem is added to
/// Problems and leaves the target unchanged. So a reader is a list of fields:
///
///   Result<Pool> decode(std::string_view text) {
///     Pool pool;
///     HOSTLER_TRY(json::read_object(text, {}, [&](json::Object& o) {
///       o.need("name").name(pool.name);
///       o.may("max").integer(pool.max, 0, 10'000);
///       o.may("idle_timeout").duration(pool.idle_timeout, 1s, 24h);
///       o.may("types").each(64, [&](json::Field type) { ... });
///     }));                                    // keys that were not read are problems, too
///     return pool;
///   }
namespace hostler::json {

/// The problems of a document in the order found. Keeps the first 100.
class Problems {
 public:
  /// Adds "path: text (at line:column)".
  void add(const Value& at, const std::string& text, Errc code = Errc::kInvalidArgument);
  void add(Error error);
  void add(const Problems& found);

  [[nodiscard]] bool ok() const { return list_.empty(); }
  /// True if no more problems are kept. Computing the position of a problem costs a pass over the
  /// text, so loops over long lists end when this is true.
  [[nodiscard]] bool full() const;
  [[nodiscard]] const std::vector<Error>& list() const { return list_; }
  /// The first problem and how many more there are; success if there is none.
  [[nodiscard]] Result<void> result() const;

  /// The keys that readers know, with [] for each index: "pools[].name". For tests of the
  /// documentation.
  [[nodiscard]] const std::set<std::string>& keys() const { return keys_; }
  void record_keys() { recording_ = true; }
  /// A reader knows this key of `object`.
  void note_key(const Value& object, std::string_view key);

 private:
  std::vector<Error> list_;
  std::set<std::string> keys_;
  bool recording_ = false;
};

/// A word of a fixed list, and its value.
template <class E>
struct Word {
  std::string_view text;
  E value;
};

/// Which strings a reader accepts.
struct TextRule {
  std::size_t bytes_max = 1024;
  std::size_t bytes_min = 0;
  bool one_line = false;  ///< Refuse control characters.
  bool nul_allowed = false;
  bool secret = false;  ///< Messages do not quote it.
};

class Object;

/// An optional value that is to be read as a certain type. Every reader returns true if it has set
/// its target. A missing value sets nothing and is no problem here: Object::need() reports it.
class Field {
 public:
  Field(std::optional<Value> value, Problems& problems) : value_(value), problems_(&problems) {}

  [[nodiscard]] bool present() const { return value_.has_value(); }
  [[nodiscard]] const std::optional<Value>& value() const { return value_; }
  /// Adds the problem "found X, allowed: Y" if the value is present. Always returns false.
  bool refuse(const std::string& allowed) const;
  /// Adds a problem with this text if the value is present. Always returns false.
  bool problem(const std::string& text, Errc code = Errc::kInvalidArgument) const;
  /// Adds the problems of a reader that used a separate Problems object, to know whether its own
  /// part has problems.
  void pass_on(const Problems& found) const;

  bool boolean(bool& out) const;
  /// Decimal digits without point or exponent.
  template <std::integral T>
  bool integer(T& out, std::int64_t min, std::int64_t max) const {
    const auto number = read_integer(min, max);
    if (number) out = static_cast<T>(*number);
    return number.has_value();
  }
  bool number(double& out, double min, double max) const;
  /// A number converted to millionths: 0.25 gives 250000. For money.
  bool millionths(std::int64_t& out, std::int64_t min, std::int64_t max) const;
  /// A number with at most three decimals: 0.25 gives 250. `min` and `max` are thousandths too.
  bool thousandths(std::int64_t& out, std::int64_t min, std::int64_t max) const;
  bool text(std::string& out, const TextRule& rule = {}) const;
  /// `[a-z0-9_-]{1,63}`
  bool name(std::string& out) const;
  /// A string with a unit, such as "30s" (core/base/units.h).
  bool duration(Duration& out, Duration min, Duration max) const;
  /// A string with a unit, such as "64MiB", converted to bytes.
  bool size(std::int64_t& out, std::int64_t min, std::int64_t max) const;
  template <class E, std::size_t N>
  bool word(E& out, const std::array<Word<E>, N>& words) const {
    std::array<std::string_view, N> texts;
    for (std::size_t i = 0; i < N; ++i) texts[i] = words[i].text;
    const auto index = read_word(texts.data(), N);
    if (index) out = words[*index].value;
    return index.has_value();
  }
  /// Calls `element` for each element of an array of at most `max` elements.
  bool each(std::size_t max, const std::function<void(Field)>& element) const;
  /// Calls `member` for each member of an object of at most `max` members, with any keys.
  bool members(std::size_t max, const std::function<void(std::string_view, Field)>& member) const;
  /// Calls `members` with the object. Members that it does not read are problems.
  bool object(const std::function<void(Object&)>& members) const;
  /// An array of strings, and an array of different names.
  bool texts(std::vector<std::string>& out, std::size_t max, const TextRule& rule = {}) const;
  bool names(std::vector<std::string>& out, std::size_t max) const;
  /// An object as compact JSON text, for example the config of a driver.
  bool object_text(std::string& out, std::size_t bytes_max) const;

 private:
  [[nodiscard]] std::optional<std::int64_t> read_integer(std::int64_t min, std::int64_t max) const;
  std::optional<std::size_t> read_word(const std::string_view* words, std::size_t count) const;

  std::optional<Value> value_;
  Problems* problems_;
};

/// The members of one object. The destructor adds a problem, with the allowed keys, for each member
/// that was not read.
class Object {
 public:
  /// Adds a problem if `value` is not an object; then all fields are absent, without further
  /// problems.
  Object(Value value, Problems& problems);
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object();

  /// An optional member.
  Field may(std::string_view key);
  /// A required member; adds a problem if it is missing.
  Field need(std::string_view key);
  /// Returns the one of `keys` that is present. If none or several are, adds a problem and returns
  /// an empty string.
  std::string_view exactly_one(std::initializer_list<std::string_view> keys);

  /// Members that are not read are no problems: their paths are added to `unknown`, at most 20.
  void tolerate_unknown(std::vector<std::string>& unknown) { unknown_ = &unknown; }

  [[nodiscard]] const Value& value() const { return value_; }
  [[nodiscard]] Problems& problems() const { return *problems_; }

 private:
  Value value_;
  Problems* problems_;
  bool is_object_;
  std::vector<std::string_view> known_;
  std::vector<std::string>* unknown_ = nullptr;
};

/// The elements of a long array, each read while the text is parsed (document.h).
struct EachElement {
  std::string_view key;
  std::size_t max = 0;
  std::size_t bytes_max = 0;
  /// True: go on. False ends the reading; then the result is not to be used.
  std::function<bool(Field)> read;
};

/// Parses `text`, which must be an object, and reads it. Returns the first problem as the error.
Result<void> read_object(std::string_view text, const ParseOptions& options,
                         const std::function<void(Object&)>& members);
/// The same with an array whose elements are in memory one at a time. `members` is called after
/// them, and finds the array empty. Ends early when no more problems are kept.
Result<void> read_object(std::string_view text, const ParseOptions& options,
                         const EachElement& elements, const std::function<void(Object&)>& members);

}  // namespace hostler::json
