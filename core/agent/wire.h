#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// Two visitors for the fields of a message: Writer encodes them, Reader decodes and validates
/// them. A message is described once, by a function `fields(visitor, message)` that works with
/// both.
namespace hostler::agent::wire {

/// The position of a visitor in a message, and the first error it has found.
class Place {
 public:
  explicit Place(std::string name) : path_(std::move(name)) {}
  /// "start.env[3].name: 140000 is more than 131072 bytes"; "" if there is no error.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] bool ok() const { return problem_.empty(); }

 protected:
  void complain(std::string_view field, std::string_view what) {
    if (!ok()) return;
    problem_ = path_;
    if (!field.empty()) problem_.append(".").append(field);
    problem_.append(": ").append(what);
  }
  template <class Body>
  void inside(std::string_view field, std::size_t index, Body body) {
    const std::size_t length = path_.size();
    path_.append(".").append(field).append("[").append(std::to_string(index)).append("]");
    body();
    path_.resize(length);
  }
  static std::string too_long(std::size_t is, std::size_t max) {
    return std::to_string(is) + " is more than " + std::to_string(max);
  }

 private:
  std::string path_;
  std::string problem_;
};

/// Appends the fields to a string.
class Writer : public Place {
 public:
  template <class T>
  using Ref = const T&;

  Writer(std::string name, std::string& out) : Place(std::move(name)), out_(out) {}

  template <class T>
  void number(std::string_view, T value) {
    static_assert(std::is_integral_v<T>);
    const auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (unsigned i = 0; i < sizeof(T); ++i)
      out_.push_back(static_cast<char>((static_cast<std::uint64_t>(bits) >> (8U * i)) & 0xffU));
  }
  void flag(std::string_view, bool value) { out_.push_back(value ? '\1' : '\0'); }
  template <class E>
  void choice(std::string_view, E value, E) {
    out_.push_back(static_cast<char>(value));
  }
  void text(std::string_view field, std::string_view value, std::size_t max) {
    if (value.size() > max) return complain(field, too_long(value.size(), max) + " bytes");
    number(field, static_cast<std::uint32_t>(value.size()));
    out_.append(value);
  }
  template <class T, class Each>
  void list(std::string_view field, const std::vector<T>& values, std::size_t max, Each each) {
    if (values.size() > max) return complain(field, too_long(values.size(), max) + " items");
    number(field, static_cast<std::uint32_t>(values.size()));
    for (std::size_t i = 0; i < values.size() && ok(); ++i)
      inside(field, i, [&] { each(*this, values[i]); });
  }
  /// Fields that were added at the end of a record that lies on disks: left out if they are
  /// `empty`, as an earlier version would do.
  template <class Body>
  void added(bool empty, Body body) {
    if (!empty) body();
  }

 private:
  std::string& out_;
};

/// Reads the fields from a string. After an error it leaves the remaining fields as they are.
class Reader : public Place {
 public:
  template <class T>
  using Ref = T&;

  Reader(std::string name, std::string_view in) : Place(std::move(name)), in_(in) {}

  template <class T>
  void number(std::string_view field, T& value) {
    static_assert(std::is_integral_v<T>);
    if (!has(field, sizeof(T))) return;
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < sizeof(T); ++i)
      bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(in_[i])) << (8U * i);
    in_.remove_prefix(sizeof(T));
    value = static_cast<T>(bits);
  }
  void flag(std::string_view field, bool& value) {
    std::uint8_t byte = 0;
    number(field, byte);
    if (byte > 1) complain(field, "neither 0 nor 1");
    value = byte == 1;
  }
  template <class E>
  void choice(std::string_view field, E& value, E last) {
    std::uint8_t byte = 0;
    number(field, byte);
    if (byte > static_cast<std::uint8_t>(last))
      return complain(field, "unknown value " + std::to_string(byte));
    value = static_cast<E>(byte);
  }
  void text(std::string_view field, std::string& value, std::size_t max) {
    std::uint32_t size = 0;
    number(field, size);
    if (size > max) return complain(field, too_long(size, max) + " bytes");
    if (!has(field, size)) return;
    value.assign(in_.substr(0, size));
    in_.remove_prefix(size);
  }
  template <class T, class Each>
  void list(std::string_view field, std::vector<T>& values, std::size_t max, Each each) {
    std::uint32_t count = 0;
    number(field, count);
    if (count > max) return complain(field, too_long(count, max) + " items");
    values.clear();
    for (std::uint32_t i = 0; i < count && ok(); ++i)
      inside(field, i, [&] { each(*this, values.emplace_back()); });
  }
  template <class Body>
  void added(bool, Body body) {
    if (ok() && !in_.empty()) body();
  }
  /// Call it last: bytes behind the last field are an error.
  void end() {
    if (!in_.empty()) complain("end", std::to_string(in_.size()) + " bytes too many");
  }

 private:
  bool has(std::string_view field, std::size_t bytes) {
    if (!ok()) return false;
    if (in_.size() < bytes) complain(field, "cut short");
    return in_.size() >= bytes;
  }

  std::string_view in_;
};

}  // namespace hostler::agent::wire
