// A cloud that writes down what it is asked for, and makes nothing. Each create is appended to the
// file `creates` of its folder, field by field in the order of driver.h, and a line of dashes. Left
// out is what is of one create only: key, ids, name, and the tags that say these.
#include <array>
#include <fstream>
#include <string>
#include <type_traits>
#include <vector>

#include "../../../../core/driver_host/wire/abi_fields.h"
#include "folder_cloud.h"

namespace {

namespace driver = hostler::driver;
using driver::str;
using driver::view;
using hostler::driver_host::visit;

class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}

  template <class T>
  std::enable_if_t<std::is_integral_v<T>> operator()(const T& number) {
    out_ << +number << '\n';
  }
  void operator()(const hostler_str& text) { out_ << view(text) << '\n'; }
  void operator()(const hostler_kv& pair) {
    out_ << view(pair.key) << '=' << view(pair.value) << '\n';
  }
  template <class T>
  void reserved(const T&) {}
  template <class T>
  void array(const T* items, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) (*this)(items[i]);
    out_ << n << " above\n";
  }
  void bytes(const std::uint8_t* data, std::size_t n) {
    out_ << std::string_view(reinterpret_cast<const char*>(data), n) << '\n';
  }
  template <class T>
  void one(const T* item) {
    if (item == nullptr) return (*this)(hostler_str{});
    T copy = *item;
    visit(copy, *this);
  }
  template <class T>
  void each(const T* const* items, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) one(items[i]);
  }

 private:
  std::ostream& out_;
};

class Scribe : public folder_cloud::FolderCloud {
 public:
  static driver::About about() {
    return {"scribe", "1.0", "test", "Apache-2.0", "{}", HOSTLER_THREAD_CONCURRENT, 1};
  }
  Scribe(const hostler_host&, const hostler_set_config& config, hostler_op*)
      : FolderCloud(config) {}

  void info(const hostler_set_info_req&, hostler_op* op) { driver::emit(op, info_of("scribe")); }

  void create(const hostler_create_req& request, hostler_op*) {
    hostler_create_req asked = request;
    asked.idempotency_key = asked.host_instance_id = asked.owner = asked.name_hint = {};
    std::vector<hostler_kv> tags;
    for (std::size_t i = 0; i < request.n_tags; ++i) {
      const auto key = view(request.tags[i].key);
      if (key != "hostler-key" && key != "hostler-set" && key != "hostler-owner" &&
          key != "hostler-epoch")
        tags.push_back(request.tags[i]);
    }
    asked.tags = tags.data(), asked.n_tags = tags.size();
    std::ofstream file(path_of("creates"), std::ios::app);
    Writer writer(file);
    visit(asked, writer);
    file << "----\n";
    throw driver::Error(HOSTLER_E_CAPACITY, "it is written down, and not made");
  }
  void list(const hostler_list_req&, hostler_op*) {}
  void destroy(const hostler_destroy_req&, hostler_op*) {}
  void find_images(const hostler_images_req& request, hostler_op* op) {
    for (const std::string end : {"1", "2"}) {
      const std::string id = std::string(view(request.name)) + "-" + end;
      auto out = driver::image_record();
      out.id = str(id);
      out.created_unix_ns = end == "2" ? 2'000'000'000 : 1'000'000'000;
      driver::emit(op, out);
    }
  }
};

}  // namespace

HOSTLER_REGISTER(Scribe)
