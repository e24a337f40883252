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

/// Typed reading that names all that is wrong, not only the first. What is wrong goes to Problems
/// and leaves the target as it was, so a reader is a list of fields:
///
///   Result<Pool> decode(std::string_view text) {
///     Pool pool;
///     HOSTLER_TRY(json::read_object(text, {}, [&](json::Object& o) {
///       o.need("name").name(pool.name);
///       o.may("max").integer(pool.max, 0, 10'000);
///       o.may("idle_timeout").duration(pool.idle_timeout, 1s, 24h);
///       o.may("types").each(64, [&](json::Field type) { ... });
///     }));                                    // keys that nobody asked for are problems too
///     return pool;
///   }
namespace hostler::json {

/// What is wrong with a document, in the order found; at most 100 are kept.
class Problems {
 public:
  /// "path: what (at line:column)"
  void add(const Value& at, const std::string& what, Errc code = Errc::kInvalidArgument);
  void add(Error error);
  void add(const Problems& found);

  [[nodiscard]] bool ok() const { return list_.empty(); }
  /// No more are kept. To say where a problem is takes a walk through the text, so that those who
  /// read long lists stop here.
  [[nodiscard]] bool full() const;
  [[nodiscard]] const std::vector<Error>& list() const { return list_; }
  /// The first problem and how many more there are; success if there is none.
  [[nodiscard]] Result<void> result() const;

  /// Keys that readers asked for, with [] for every index: "pools[].name". For the tests of docs.
  [[nodiscard]] const std::set<std::string>& keys() const { return keys_; }
  void record_keys() { recording_ = true; }
  void asked_for(const Value& object, std::string_view key);

 private:
  std::vector<Error> list_;
  std::set<std::string> keys_;
  bool recording_ = false;
};

/// A word of a closed list and what it stands for.
template <class E>
struct Word {
  std::string_view text;
  E value;
};

struct TextRule {
  std::size_t bytes_max = 1024;
  std::size_t bytes_min = 0;
  bool one_line = false;  ///< No control characters.
  bool nul_allowed = false;
  bool secret = false;  ///< Messages do not quote it.
};

class Object;

/// A value that may be there, about to be read as something. Every reader returns whether it has
/// set its target; a value that is not there sets nothing and is no problem here (Object::need
/// has said so already).
class Field {
 public:
  Field(std::optional<Value> value, Problems& problems) : value_(value), problems_(&problems) {}

  [[nodiscard]] bool present() const { return value_.has_value(); }
  [[nodiscard]] const std::optional<Value>& value() const { return value_; }
  /// Adds "found X, allowed: Y" if it is present. False always, for use in a return.
  bool refuse(const std::string& allowed) const;
  /// Adds a problem in the caller's own words if it is present. False always.
  bool problem(const std::string& what, Errc code = Errc::kInvalidArgument) const;
  /// Adds what was found by a reader with Problems of its own, for one that must know whether its
  /// part alone is good.
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
  /// A number, in millionths: 0.25 gives 250000. For money.
  bool millionths(std::int64_t& out, std::int64_t min, std::int64_t max) const;
  bool text(std::string& out, const TextRule& rule = {}) const;
  /// `[a-z0-9_-]{1,63}`
  bool name(std::string& out) const;
  /// "30s": a string with a unit (core/base/units.h).
  bool duration(Duration& out, Duration min, Duration max) const;
  /// "64MiB": a string with a unit, to bytes.
  bool size(std::int64_t& out, std::int64_t min, std::int64_t max) const;
  template <class E, std::size_t N>
  bool word(E& out, const std::array<Word<E>, N>& words) const {
    std::array<std::string_view, N> texts;
    for (std::size_t i = 0; i < N; ++i) texts[i] = words[i].text;
    const auto index = read_word(texts.data(), N);
    if (index) out = words[*index].value;
    return index.has_value();
  }
  /// Calls `element` for each of at most `max` elements of an array.
  bool each(std::size_t max, const std::function<void(Field)>& element) const;
  /// Calls `element` for each of at most `max` members of an object, whatever their keys.
  bool members(std::size_t max, const std::function<void(std::string_view, Field)>& member) const;
  /// Calls `members` with the object; unknown keys are problems.
  bool object(const std::function<void(Object&)>& members) const;
  /// Arrays of strings and of names; no element twice in the latter.
  bool texts(std::vector<std::string>& out, std::size_t max, const TextRule& rule = {}) const;
  bool names(std::vector<std::string>& out, std::size_t max) const;
  /// An object as compact JSON, for someone else to read (a driver's config).
  bool object_text(std::string& out, std::size_t bytes_max) const;

 private:
  [[nodiscard]] std::optional<std::int64_t> read_integer(std::int64_t min, std::int64_t max) const;
  std::optional<std::size_t> read_word(const std::string_view* words, std::size_t count) const;

  std::optional<Value> value_;
  Problems* problems_;
};

/// The members of one object. When it goes out of scope, members that were not asked for become
/// problems that name the allowed keys.
class Object {
 public:
  /// A problem if `value` is no object; then every field is absent without further problems.
  Object(Value value, Problems& problems);
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object();

  Field may(std::string_view key);
  Field need(std::string_view key);
  /// Which one of `keys` is there; empty, and a problem, if none or more than one is.
  std::string_view exactly_one(std::initializer_list<std::string_view> keys);

  [[nodiscard]] const Value& value() const { return value_; }
  [[nodiscard]] Problems& problems() const { return *problems_; }

 private:
  Value value_;
  Problems* problems_;
  bool is_object_;
  std::vector<std::string_view> known_;
};

/// Parses `text` and reads its one object; the first problem is the error.
Result<void> read_object(std::string_view text, const ParseOptions& options,
                         const std::function<void(Object&)>& members);

}  // namespace hostler::json
