#include <cstring>
#include <memory_resource>
#include <string>
#include <vector>

#include "core/driver_host/wire/child_arguments.h"
#include "core/driver_host/wire/decoder.h"
#include "core/driver_host/wire/encoder.h"
#include "core/driver_host/wire/frame.h"
#include "tests/fuzz/target.h"

/// What the process of a driver reads from hostlerd: each kind of request. Whatever the bytes are,
/// no byte beyond them is read, and what the driver would get keeps law 5.
///
/// The input: a byte, the kind of request; then its bytes.
namespace hostler::fuzz {
namespace {

using driver_host::Decoder;

/// Touches all that a driver may read.
struct Touch {
  std::size_t sum = 0;

  void text(const hostler_str& s) {
    promise(s.ptr != nullptr || s.len == 0, "a text with a length has bytes");
    if (s.ptr == nullptr) return;
    for (std::size_t i = 0; i < s.len; ++i) sum += static_cast<unsigned char>(s.ptr[i]);
    promise(s.ptr[s.len] == '\0', "text for drivers ends with NUL");
  }
  void item(const hostler_str& s) { text(s); }
  void item(const hostler_kv& kv) { text(kv.key), text(kv.value); }

  template <class T>
  requires std::is_integral_v<T>
  void operator()(const T& field) { sum += static_cast<std::size_t>(field); }
  void operator()(const hostler_str& field) { text(field); }
  template <class T>
  void reserved(const T& field) {
    promise(field == 0, "reserved words are zero");
  }
  template <class T>
  void array(const T* const& items, const std::size_t& count) {
    promise(items != nullptr || count == 0, "an array with a length has items");
    for (std::size_t i = 0; i < count; ++i) item(items[i]);
  }
  void bytes(const std::uint8_t* const& data, const std::size_t& count) {
    text({reinterpret_cast<const char*>(data), count});
  }
  template <class T>
  void one(const T* const& item) {
    if (item != nullptr) whole(*item);
  }
  template <class T>
  void each(const T* const* const& items, const std::size_t& count) {
    for (std::size_t i = 0; i < count; ++i) whole(*items[i]);
  }
  template <class T>
  void whole(const T& value) {
    promise(value.struct_size <= sizeof(T), "a struct is no longer than it is");
    T copy = value;
    driver_host::visit(copy, *this);
  }
};

template <class T>
void request(std::string_view bytes) {
  // In an allocation of just this size, so that a read beyond it is noticed.
  std::vector<char> memory(bytes.begin(), bytes.end());
  memory.shrink_to_fit();
  std::pmr::monotonic_buffer_resource heap;
  Decoder decoder({memory.data(), memory.size()}, heap, Decoder::Texts::kWhole);
  const auto value = decoder.growable<T>();
  if (!decoder.finished()) return;
  Touch touch;
  touch.whole(value);
  std::string again;
  driver_host::Encoder(again).growable(value, value.struct_size);
  Decoder second(again, heap, Decoder::Texts::kWhole);
  Touch same;
  same.whole(second.growable<T>());
  promise(second.finished() && same.sum == touch.sum, "what was read can be sent again");
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler::fuzz;
  Bytes in(data, size);
  constexpr void (*kKinds[])(std::string_view) = {
      &request<hostler_set_config>,  &request<hostler_create_req>,   &request<hostler_list_req>,
      &request<hostler_destroy_req>, &request<hostler_set_tags_req>, &request<hostler_verify_req>,
      &request<hostler_price_req>,   &request<hostler_power_req>};
  kKinds[in.byte() % std::size(kKinds)](in.rest());
  return 0;
}
