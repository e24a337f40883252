#include <iterator>

#include "chaos.h"

namespace chaos {

hostler_instance made(const std::string& id, const std::string& key) {
  auto record = hostler::driver::instance_record();
  record.id = str(id);
  record.idempotency_key = str(key);
  record.state = HOSTLER_STATE_PENDING;
  static const hostler_address addresses[] = {
      {0, 0, HOSTLER_STR("first.example")},
      {HOSTLER_ADDRESS_PUBLIC, 0, HOSTLER_STR("192.0.2.7")},
      {HOSTLER_ADDRESS_PRIVATE, 0, HOSTLER_STR("10.0.0.7")},
      {HOSTLER_ADDRESS_PRIVATE, 0, HOSTLER_STR("10.0.0.8")}};
  record.addresses = addresses;
  record.n_addresses = id == "i-key-public" ? 2 : 4;
  record.state_error = str("Server.Error:\nno disk");
#ifdef HOSTLER_CREATE_DRY_RUN
  record.grown = 0xa5a5a5a5;
#endif
  return record;
}

void emit(hostler_op* op, const hostler_instance& record) {
  op->emit(op, reinterpret_cast<const hostler_rec*>(&record));
}

hostler_status emit_then(hostler_op* op, const std::string& id, const std::string& key,
                         hostler_status status) {
  const auto record = made(id, key);
  emit(op, record);
  return status;
}

bool emit_wrong(const std::string& word, hostler_op* op, const std::string& id,
                const std::string& key) {
  auto record = made(id, key);
  static const char kNul[] = {'i', '\0', '1'};
  if (word == "wrong_size") {
    record.struct_size = 24;
  } else if (word == "no_size") {
    record.struct_size = 0;
  } else if (word == "no_record") {
    op->emit(op, nullptr);
  } else if (word == "huge_size") {
    record.struct_size = 1U << 20U;
  } else if (word == "embedded_nul") {
    record.remote_user = {kNul, sizeof kNul};
  } else if (word == "not_utf8") {
    record.remote_user = str("\xff\xfe");
  } else if (word == "null_text") {
    record.remote_user = {nullptr, 5};
  } else if (word == "no_id") {
    record.id = {};
  } else if (word == "long_id" || word == "long_zone") {
    static const std::string kLong(256, 'x');
    (word == "long_id" ? record.id : record.zone) = str(kLong.c_str());
  } else if (word == "other_key") {
    record.idempotency_key = str("another");
  } else if (word == "tagged") {
    static constexpr hostler_kv kTags[]{{HOSTLER_STR("hostler-type"), HOSTLER_STR("small")},
                                        {HOSTLER_STR("colour"), HOSTLER_STR("red")},
                                        {HOSTLER_STR("hostler-idle"), HOSTLER_STR("hold")},
                                        {HOSTLER_STR("hostler-pool"), HOSTLER_STR("default")}};
    record.tags = kTags;
    record.n_tags = std::size(kTags);
  } else if (word == "many_tags") {
    static const std::vector<hostler_kv> kTags(90'000, hostler_kv{});
    record.tags = kTags.data();
    record.n_tags = kTags.size();
  } else if (word == "huge_name") {
    static const std::string kHuge(std::size_t{100} << 20U, 'x');
    record.remote_user = str(kHuge);
  } else if (word == "huge_tags") {
    static const std::string kText(100, 'x');
    static const std::vector<hostler_kv> kTags(1'000'000, {HOSTLER_STR("colour"), str(kText)});
    record.tags = kTags.data();
    record.n_tags = kTags.size();
  } else if (word == "wrong_port") {
    record.ssh_port = 70'000;
  } else if (word == "huge_cost") {
    record.price_micros_per_hour = INT64_MAX;
  } else if (word == "far_future") {
    record.created_unix_ns = INT64_MAX;
  } else if (word == "bad_tag") {
    static constexpr hostler_kv kTags[]{{HOSTLER_STR("colour"), HOSTLER_STR("\xff")}};
    record.tags = kTags;
    record.n_tags = std::size(kTags);
  } else if (word == "unknown_values") {
    record.state = 77;
    record.flags = 0xfff0;
    const hostler_rec unknown = {sizeof unknown, 4711};
    op->emit(op, &unknown);
  } else if (word == "two_ids") {
    emit(op, record);
    record.id = str("i-other");
  } else {
    return false;
  }
  emit(op, record);
  return true;
}

bool emit_too_much(const std::string& word, hostler_op* op) {
  const std::string key, text(std::size_t{200} << 10U, 'x');
  const std::string id = "i-1";
  auto record = made(id, key);
  const auto* const as_record = reinterpret_cast<const hostler_rec*>(&record);
  if (word == "too_many") {
    const hostler_rec unknown = {sizeof unknown, 4711};
    while (op->emit(op, &unknown) == 0) {
    }
  } else if (word == "million") {  // whatever the host answers
    for (int i = 0; i < 1'000'000; ++i) emit(op, record);
  } else if (word == "gigabytes") {
    record.state_reason = str(text);
    while (op->emit(op, as_record) == 0) {
    }
  } else if (word == "two_threads") {
    std::thread other([&] {
      while (op->emit(op, as_record) == 0) {
      }
    });
    while (op->emit(op, as_record) == 0) {
    }
    other.join();
  } else {
    return false;
  }
  return true;
}

}  // namespace chaos
