#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "core/driver_host/wire/abi_fields.h"
#include "core/driver_host/wire/limits.h"

namespace hostler::driver_host {

/// Writes numbers, texts and the ABI's structs to a buffer. A struct is written as its size in
/// bytes and then its fields, so that a reader who knows fewer fields skips the rest (R10).
///
/// What it copies may be a driver's: a text without an address, or one that is too long, is written
/// as such and not read, so that the other side finds the broken rule.
class Encoder {
 public:
  /// Appends to `out`. Copies at most `bytes_max` bytes of texts of others.
  explicit Encoder(std::string& out, std::size_t bytes_max = kRequestBytesMax)
      : out_(out), bytes_left_(bytes_max) {}

  template <class T>
  void number(T value) {
    static_assert(std::is_integral_v<T>);
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof raw);
    out_.append(raw, sizeof raw);
  }
  void text(const char* s, std::size_t n) {
    if (n > 0 && s == nullptr) return number(kNoText);
    if (n > bytes_left_ || n >= kTooLong) {
      number(kTooLong);
      return number(static_cast<std::uint64_t>(n));
    }
    bytes_left_ -= n;
    const auto length = static_cast<std::uint32_t>(n);
    const std::size_t at = out_.size();
    out_.resize(at + sizeof length + n + 1);  // law 5: drivers get text that ends with NUL
    std::memcpy(out_.data() + at, &length, sizeof length);
    if (n > 0) std::memcpy(out_.data() + at + sizeof length, s, n);
  }
  void text(const std::string& s) { text(s.data(), s.size()); }

  /// Writes the fields that lie within the first `size` bytes of the struct: those that its writer
  /// knows.
  template <class T>
  void growable(T value, std::size_t size = sizeof(T)) {
    const std::size_t at = out_.size();
    number(std::uint32_t{0});
    Fields fields{*this, reinterpret_cast<const char*>(&value), std::min(size, sizeof(T))};
    visit(value, fields);
    const auto written = static_cast<std::uint32_t>(out_.size() - at - sizeof(std::uint32_t));
    std::memcpy(out_.data() + at, &written, sizeof written);
  }

 private:
  /// The visitor: stops at the first field that the struct's writer does not know.
  struct Fields {
    Encoder& to;
    const char* base;
    std::size_t size;

    template <class T>
    [[nodiscard]] bool has(const T& field) const {
      return reinterpret_cast<const char*>(&field + 1) <= base + size;
    }
    template <class T>
    requires std::is_integral_v<T>
    void operator()(const T& field) {
      if (has(field)) to.number(field);
    }
    void operator()(const hostler_str& field) {
      if (has(field)) to.write(field);
    }
    template <class T>
    void reserved(const T& field) {
      if (has(field)) to.number(T{0});
    }
    template <class T>
    void array(const T* const& items, const std::size_t& count) {
      if (has(items) && has(count)) to.write_array(items, count);
    }
    void bytes(const std::uint8_t* const& data, const std::size_t& count) {
      if (has(data) && has(count)) to.text(reinterpret_cast<const char*>(data), count);
    }
    template <class T>
    void one(const T* const& item) {
      if (!has(item)) return;
      to.number(std::uint8_t{item != nullptr});
      if (item != nullptr) to.growable(*item, item->struct_size);
    }
    template <class T>
    void each(const T* const* const& items, const std::size_t& count) {
      if (!has(items) || !has(count)) return;
      to.number(static_cast<std::uint32_t>(count));
      for (std::size_t i = 0; i < count; ++i) to.growable(*items[i], items[i]->struct_size);
    }
  };

  void write(const hostler_str& s) { text(s.ptr, s.len); }
  void write(const hostler_kv& kv) { write(kv.key), write(kv.value); }
  void write(const hostler_address& a) { number(a.scope), write(a.text); }
  void write(const hostler_gpu_group& g) { write(g.kind), number(g.memory_bytes), number(g.count); }
  template <class T>
  void write_array(const T* items, std::size_t count) {
    if (count > 0 && items == nullptr) return number(kNoText);
    count = std::min<std::size_t>(count, kItemsMax);
    number(static_cast<std::uint32_t>(count));
    for (std::size_t i = 0; i < count; ++i) write(items[i]);
  }

  std::string& out_;
  std::size_t bytes_left_;
};

}  // namespace hostler::driver_host
