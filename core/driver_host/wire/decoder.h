#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/driver_host/wire/abi_fields.h"
#include "core/driver_host/wire/limits.h"

namespace hostler::driver_host {

/// Reads what Encoder has written. Never reads beyond the bytes that it was given, whatever they
/// are: after the first error all is zero, and ok() is false.
///
/// Texts point into the bytes, arrays and structs into `memory`: both must outlive what was read.
class Decoder {
 public:
  /// `kAsSaid`: a text or array that breaks a rule is shown as such, by a length without bytes, for
  /// somebody who checks it. `kWhole`: it is an error, for somebody who reads what he gets.
  enum class Texts : std::uint8_t { kAsSaid, kWhole };

  Decoder(std::string_view bytes, std::pmr::memory_resource& memory, Texts texts = Texts::kAsSaid)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), memory_(memory), texts_(texts) {}

  [[nodiscard]] bool ok() const { return ok_; }
  /// Whether everything was read and nothing was wrong.
  [[nodiscard]] bool finished() const { return ok_ && at_ == end_; }

  template <class T>
  T number() {
    static_assert(std::is_integral_v<T>);
    T value{};
    if (left() < sizeof(T)) return fail(), value;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  hostler_str text() {
    const auto length = number<std::uint32_t>();
    if (texts_ == Texts::kWhole && length >= kTooLong) return fail(), hostler_str{};
    if (!ok_ || length == kNoText) return {nullptr, std::size_t{ok_}};
    // Such a text has no bytes here, so its length must be one that nobody accepts.
    if (length == kTooLong)
      return {"", std::max<std::uint64_t>(number<std::uint64_t>(), kRecordTextMax + 1)};
    if (left() < std::size_t{length} + 1 || at_[length] != '\0') return fail(), hostler_str{};
    const hostler_str found{at_, length};
    at_ += std::size_t{length} + 1;
    return found;
  }
  /// A text that the other side of the wire has written itself.
  std::string own_text() {
    const hostler_str found = text();
    if (found.len > kRecordTextMax || found.ptr == nullptr) return {};
    return {found.ptr, found.len};
  }

  /// Reads a struct. Fields that its writer does not know become zero, and struct_size shows which.
  template <class T>
  T growable() {
    T value{};
    const auto size = number<std::uint32_t>();
    if (left() < size) return fail(), value;
    const char* const end = at_ + size;
    Decoder inner({at_, size}, memory_, texts_);
    Fields fields{inner, reinterpret_cast<const char*>(&value), sizeof(T)};
    visit(value, fields);
    value.struct_size = static_cast<std::uint32_t>(fields.known);
    ok_ = ok_ && inner.ok_;
    at_ = end;
    return value;
  }

 private:
  /// The visitor: the fields are known up to the first one that begins where the bytes end.
  struct Fields {
    Decoder& from;
    const char* base;
    std::size_t known;
    bool over = false;

    template <class T>
    bool next(const T& field) {
      if (over || !from.ok_) return false;
      if (from.left() > 0) return true;
      over = true;
      known = static_cast<std::size_t>(reinterpret_cast<const char*>(&field) - base);
      return false;
    }
    template <class T>
    requires std::is_integral_v<T>
    void operator()(T& field) {
      if (next(field)) field = from.number<T>();
    }
    void operator()(hostler_str& field) {
      if (next(field)) field = from.text();
    }
    template <class T>
    void reserved(T& field) {
      if (next(field)) from.number<T>();
    }
    template <class T>
    void array(const T*& items, std::size_t& count) {
      if (next(items)) from.read_array(items, count);
    }
    void bytes(const std::uint8_t*& data, std::size_t& count) {
      if (!next(data)) return;
      const hostler_str found = from.text();
      data = reinterpret_cast<const std::uint8_t*>(found.ptr);
      count = found.len;
    }
    template <class T>
    void one(const T*& item) {
      if (next(item) && from.number<std::uint8_t>() != 0) item = from.allocate_one<T>();
    }
    template <class T>
    void each(const T* const*& items, std::size_t& count) {
      if (!next(items)) return;
      const auto n = from.count_of(sizeof(std::uint32_t));
      auto* const all = from.allocate<const T*>(n);
      for (std::size_t i = 0; i < n; ++i) all[i] = from.allocate_one<T>();
      items = all;
      count = n;
    }
  };

  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  void fail() {
    ok_ = false;
    at_ = end_;
  }
  /// The number of items that follow; each takes at least `bytes`.
  std::size_t count_of(std::size_t bytes) {
    const auto n = number<std::uint32_t>();
    if (n > kItemsMax || left() / bytes < n) return fail(), 0;
    return n;
  }
  template <class T>
  T* allocate(std::size_t n) {
    auto* const items = std::pmr::polymorphic_allocator<T>(&memory_).allocate(n);
    return std::uninitialized_value_construct_n(items, n), items;
  }
  template <class T>
  const T* allocate_one() {
    auto* const item = allocate<T>(1);
    *item = growable<T>();
    return item;
  }

  void read(hostler_str& s) { s = text(); }
  void read(hostler_kv& kv) { kv.key = text(), kv.value = text(); }
  void read(hostler_address& a) {
    a.scope = number<std::uint32_t>();
    a.text = text();
  }
  void read(hostler_gpu_group& g) {
    g.kind = text();
    g.memory_bytes = number<std::uint64_t>();
    g.count = number<std::uint32_t>();
  }
  template <class T>
  void read_array(const T*& items, std::size_t& count) {
    if (left() >= sizeof kNoText && std::memcmp(at_, &kNoText, sizeof kNoText) == 0) {
      number<std::uint32_t>();
      if (texts_ == Texts::kWhole) return fail();
      items = nullptr;
      count = 1;
      return;
    }
    const auto n = count_of(sizeof(std::uint32_t));
    auto* const all = allocate<T>(n);
    for (std::size_t i = 0; i < n; ++i) read(all[i]);
    items = all;
    count = n;
  }

  const char* at_;
  const char* end_;
  std::pmr::memory_resource& memory_;
  const Texts texts_;
  bool ok_ = true;
};

}  // namespace hostler::driver_host
