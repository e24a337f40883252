#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

/// Parts of every target of tests/fuzz: a function that gets arbitrary bytes, and promises, which
/// are rules that must hold for all input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace hostler::fuzz {

/// Ends the process if the promise is broken, so that the fuzzer or the replay keeps the input.
inline void promise(bool holds, std::string_view what, std::string_view shown = "") {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %.*s\n  %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(shown.size()), shown.data());
  std::abort();
}

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Reads values from the input, for targets that need more than one text. After the end of the
/// input the values are zero or empty, so every input is valid.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : rest_(as_text(data, size)) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  std::uint8_t byte() {
    const std::string_view one = take(1);
    return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one[0]);
  }
  std::uint16_t u16() { return static_cast<std::uint16_t>(byte() | byte() << 8); }
  std::uint64_t u64() {
    std::uint64_t out = 0;
    for (unsigned i = 0; i < 8; ++i) out |= std::uint64_t{byte()} << (8 * i);
    return out;
  }
  /// At most `size` bytes of the input.
  std::string_view take(std::size_t size) {
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(out.size());
    return out;
  }
  /// One byte is the length; then this number of bytes follows.
  std::string_view text() { return take(byte()); }

 private:
  std::string_view rest_;
};

/// Positions at which to split the input into pieces: spread over the input, the same each time.
inline std::size_t cut(std::string_view all, std::size_t salt) {
  std::size_t hash = 0xcbf29ce484222325U ^ salt;
  for (const char c : all) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return all.empty() ? 0 : (hash >> 17U) % (all.size() + 1);
}

}  // namespace hostler::fuzz
