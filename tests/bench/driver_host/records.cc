// records - a driver for measuring how calls reach a driver: its cloud answers at once, a list with
// 10,000 instances. A destroy of "crash" ends its process, one of "hang" does not return.
#include <unistd.h>

#include <cstdlib>
#include <hostler/driver.hpp>
#include <string>
#include <vector>

namespace {

namespace driver = hostler::driver;
using driver::str;
using driver::view;

constexpr std::size_t kInstances = 10'000, kTags = 8;

struct Instance {
  std::string id, key;
  std::vector<std::string> texts;  // keys and values of its tags, in turn
};

/// Made for the first list: neither the start nor the end of a process is to wait for them.
std::vector<Instance> make_instances() {
  std::vector<Instance> out(kInstances);
  for (std::size_t i = 0; i < kInstances; ++i) {
    out[i].id = "i-0123456789ab" + std::to_string(10'000 + i);
    out[i].key = "6f1c1f0e-52a5-4b5e-9c1a-0a53a1d" + std::to_string(10'000 + i);
    for (std::size_t tag = 0; tag < kTags; ++tag) {
      out[i].texts.push_back("hostler-tag-" + std::to_string(tag));
      out[i].texts.push_back("value-of-the-tag-" + std::to_string(tag));
    }
  }
  return out;
}

void emit(const Instance& instance, hostler_op* op) {
  hostler_kv tags[kTags];
  for (std::size_t i = 0; i < kTags; ++i)
    tags[i] = {str(instance.texts[2 * i]), str(instance.texts[2 * i + 1])};
  auto record = driver::instance_record();
  record.id = str(instance.id);
  record.idempotency_key = str(instance.key);
  record.state = HOSTLER_STATE_RUNNING;
  record.tags = tags;
  record.n_tags = kTags;
  driver::emit(op, record);
}

class Records {
 public:
  static driver::About about() {
    return {"records", "0.1", "hostler", "Apache-2.0", "{}", HOSTLER_THREAD_CONCURRENT, 16};
  }
  Records(const hostler_host&, const hostler_set_config&, hostler_op*) {}

  void info(const hostler_set_info_req&, hostler_op* op) {
    auto info = driver::set_info_record();
    info.account_id = str("records");
    driver::emit(op, info);
  }
  void create(const hostler_create_req& r, hostler_op* op) {
    emit({std::string(view(r.idempotency_key)), std::string(view(r.idempotency_key)),
          std::vector<std::string>(2 * kTags, "tag")},
         op);
  }
  void list(const hostler_list_req&, hostler_op* op) {
    static const auto instances = make_instances();
    for (const Instance& instance : instances) emit(instance, op);
  }
  void destroy(const hostler_destroy_req& r, hostler_op*) {
    if (view(r.id) == "crash") std::abort();
    while (view(r.id) == "hang") ::pause();
  }
  void set_tags(const hostler_set_tags_req&, hostler_op*) {}
};

}  // namespace

HOSTLER_REGISTER(Records)
