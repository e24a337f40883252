// A driver that misbehaves: the word in its config (`{"do": "hang"}`) selects how. There is one
// word for each rule that the host checks. Without a word it is a correct cloud in memory.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gate.h"
#include "hostler/driver.hpp"

#ifndef CHAOS_THREADING
#define CHAOS_NAME "fake_chaos"
#define CHAOS_THREADING HOSTLER_THREAD_CONCURRENT
#endif

namespace {

using hostler::driver::instance_record;
using hostler::driver::str;
using hostler::driver::view;

/// Waits until somebody opens the pipe of this name for writing.
void wait_at_gate(const std::string& path) {
  const int gate = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (gate >= 0) ::close(gate);
}

std::atomic<int> calls_now{0}, calls_max{0};  // in this library, for the serial drivers

/// Its extensions cannot be asked for: a set with the word "throw_in_get_extension" is open.
std::atomic<bool> throws_in_get_extension = false;

struct Counted {
  Counted() {
    const int now = ++calls_now;
    int max = calls_max;
    while (now > max && !calls_max.compare_exchange_weak(max, now)) {
    }
  }
  ~Counted() { --calls_now; }
};

}  // namespace

struct hostler_set {
  std::string word, id, gate;
  std::mutex mutex;
  std::map<std::string, std::string> instances;  // id -> key
  std::vector<std::thread> threads;
};

namespace {

hostler_status fails(hostler_op* op, hostler_status status, std::string_view message) {
  op->error->set_text(op->error, HOSTLER_TEXT_MESSAGE, message.data(), message.size());
  return status;
}

const hostler_rec* as_record(const hostler_instance& i) {
  return reinterpret_cast<const hostler_rec*>(&i);
}

/// A record that points into its arguments, which must outlive it.
hostler_instance made(const std::string& id, const std::string& key) {
  auto record = instance_record();
  record.id = str(id);
  record.idempotency_key = str(key);
  record.state = HOSTLER_STATE_PENDING;
#ifdef HOSTLER_CREATE_DRY_RUN
  record.grown = 0xa5a5a5a5;
#endif
  return record;
}

/// Emits a wrong or unusual record, if the word asks for one.
bool emit_wrong(const std::string& word, hostler_op* op, const std::string& id,
                const std::string& key) {
  auto record = made(id, key);
  static const char kNul[] = {'i', '\0', '1'};
  if (word == "wrong_size") {
    record.struct_size = 24;
  } else if (word == "huge_size") {
    record.struct_size = 1U << 20U;
  } else if (word == "embedded_nul") {
    record.name = {kNul, sizeof kNul};
  } else if (word == "not_utf8") {
    record.name = str("\xff\xfe");
  } else if (word == "null_text") {
    record.name = {nullptr, 5};
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
    op->emit(op, as_record(record));
    record.id = str("i-other");
  } else {
    return false;
  }
  op->emit(op, as_record(record));
  return true;
}

hostler_status wait_for_cancel(hostler_op* op) {
  std::mutex mutex;
  std::condition_variable cancelled;
  bool is = false;
  {
    const hostler::driver::OnCancel on_cancel(op, [&] {
      const std::lock_guard lock(mutex);
      is = true;
      cancelled.notify_all();
    });
    std::unique_lock lock(mutex);
    cancelled.wait(lock, [&] { return is; });
  }
  return fails(op, HOSTLER_E_CANCELLED, "given up as told");
}

hostler_status emit_then(hostler_op* op, const std::string& id, const std::string& key,
                         hostler_status status) {
  const auto record = made(id, key);
  op->emit(op, as_record(record));
  return status;
}

/// Ends an operation in the way that the word asks for. PENDING if it asks for none of these.
hostler_status end_as_told(hostler_set* s, hostler_op* op, const std::string& id,
                           const std::string& key) {
  const auto& word = s->word;
  if (word == "nothing") return HOSTLER_OK;
  if (word == "no_message") return HOSTLER_E_QUOTA;
  if (word == "throw") throw std::runtime_error("not caught by the driver");
  if (word == "unknown_status") return fails(op, -77, "something new");
  if (word == "positive_status") return emit_then(op, id, key, 7);
  if (word == "fail_after_id") {
    emit_then(op, id, key, HOSTLER_OK);
    return fails(op, HOSTLER_E_TRANSIENT, "connection lost");
  }
  if (word == "early") {
    emit_then(op, id, key, HOSTLER_OK);
    op->complete(op, HOSTLER_OK);
    return HOSTLER_PENDING;
  }
  if (word == "complete_twice" || word == "return_after_complete") {
    emit_then(op, id, key, HOSTLER_OK);
    op->complete(op, HOSTLER_OK);
    if (word == "complete_twice") op->complete(op, HOSTLER_E_INTERNAL);
    return word == "complete_twice" ? HOSTLER_PENDING : HOSTLER_OK;
  }
  if (word == "keep_cancel") {
    op->on_cancel(
        op, [](void*) {}, nullptr);
    return emit_then(op, id, key, HOSTLER_OK);
  }
  return HOSTLER_PENDING;
}

std::atomic<bool> ends_recursion = false;

int overflow_stack(int depth) {
  if (ends_recursion) return depth;
  volatile char room[4096] = {};
  room[0] = static_cast<char>(depth);
  return overflow_stack(depth + 1) + room[0];
}

/// Ends the process in the way that the word asks for; returns if it asks for none.
void end_process(const std::string& word) {
  if (word == "segv") *static_cast<volatile int*>(nullptr) = 1;
  if (word == "abort") std::abort();
  if (word == "exit") std::exit(0);
  if (word == "overflow_stack") overflow_stack(0);
  if (word == "kill") ::raise(SIGKILL);
  if (word == "segv_in_thread")
    std::thread([] { *static_cast<volatile int*>(nullptr) = 1; }).join();
  if (word == "say_and_abort") {
    std::fputs("the last words\n", stderr);
    std::abort();
  }
}

hostler_status create(hostler_set* s, const hostler_create_req* r, hostler_op* op) {
  const Counted counted;
  const std::string key(view(r->idempotency_key)), id = "i-" + key;
  const std::string& word = s->word;
  try {
    hostler::driver::require_known(*r);
  } catch (const hostler::driver::Error& unknown) {
    return unknown.report(op);
  }
  if (word.starts_with("id_then_")) {
    emit_then(op, id, key, HOSTLER_OK);
    end_process(word.substr(8));
  }
  end_process(word);
  if (emit_wrong(word, op, id, key)) return HOSTLER_OK;
  if (const auto status = end_as_told(s, op, id, key);
      status != HOSTLER_PENDING || word == "early" || word == "complete_twice") {
    return status;
  }
  if (word == "hang" || word == "block") {
    emit_then(op, id, key, HOSTLER_OK);
    wait_at_gate(s->gate);
    return HOSTLER_OK;
  }
  if (word == "hang_pending") return HOSTLER_PENDING;
  if (word == "hang_then_pending") {
    wait_at_gate(s->gate);
    return HOSTLER_PENDING;
  }
  if (word == "cancellable") return wait_for_cancel(op);
  if (word == "cancelled_after_id") {
    wait_for_cancel(op);
    return emit_then(op, id, key, HOSTLER_E_CANCELLED);
  }
  if (word == "quota") {
    auto* const e = op->error;
    e->scope = HOSTLER_SCOPE_GROUP | HOSTLER_SCOPE_ZONE | 0x8000;
    e->flags = HOSTLER_EF_OUTCOME_UNKNOWN;
    e->retry_after_ms = 1500;
    e->quota_limit = 10;
    e->quota_used = 10;
    e->provider_status = 429;
    e->set_text(e, HOSTLER_TEXT_SCOPE_ZONE, "z1", 2);
    e->set_text(e, HOSTLER_TEXT_PROVIDER_CODE, "VcpuLimit", 9);
    e->set_text(e, 99, "ignored", 7);
    return fails(op, HOSTLER_E_QUOTA, "vcpu quota\nof g1 is used up");
  }
  if (word == "new_scope") {
    op->error->scope = 0x8000;
    return fails(op, HOSTLER_E_RATE_LIMIT, "a limit on something new");
  }
  if (word == "later" || word == "late_twice" || word == "late_emit") {
    const std::lock_guard lock(s->mutex);
    s->threads.emplace_back([op, id, key, word] {
      emit_then(op, id, key, HOSTLER_OK);
      op->complete(op, HOSTLER_OK);
      if (word == "late_twice") op->complete(op, HOSTLER_OK);
      if (word == "late_emit") emit_then(op, id, key, HOSTLER_OK);
    });
    return HOSTLER_PENDING;
  }
  {
    const std::lock_guard lock(s->mutex);
    s->instances[id] = key;
  }
  return emit_then(op, id, key, HOSTLER_OK);
}

hostler_status list(hostler_set* s, const hostler_list_req*, hostler_op* op) {
  const Counted counted;
  if (s->word == "abort_in_list") std::abort();
  if (s->word == "too_many") {
    const hostler_rec unknown = {sizeof unknown, 4711};
    while (op->emit(op, &unknown) == 0) {
    }
    return HOSTLER_OK;
  }
  if (s->word == "ignores_stop") {
    wait_for_cancel(op);
    return emit_then(op, "i-1", "", HOSTLER_OK);
  }
  if (s->word == "peak") {
    const std::string id = "i-peak", key;
    auto record = made(id, key);
    record.created_unix_ns = 1000 * calls_max.load();
    op->emit(op, as_record(record));
    return HOSTLER_OK;
  }
  const std::lock_guard lock(s->mutex);
  for (const auto& [id, key] : s->instances) emit_then(op, id, key, HOSTLER_OK);
  return HOSTLER_OK;
}

hostler_status destroy(hostler_set* s, const hostler_destroy_req* r, hostler_op*) {
  const Counted counted;
  const std::lock_guard lock(s->mutex);
  s->instances.erase(std::string(view(r->id)));
  return HOSTLER_OK;
}

/// The text of a key in the config.
std::string value_of(const std::string& config, const std::string& key) {
  const auto found = config.find('"' + key + '"');
  if (found == std::string::npos) return {};
  const auto from = config.find('"', config.find(':', found)) + 1;
  return config.substr(from, config.find('"', from) - from);
}

hostler_status set_open(const hostler_host* h, const hostler_set_config* c, hostler_op* op,
                        hostler_set** out) {
  const std::string config(view(c->config_json));
  const std::string word = value_of(config, "do");
  if (word == "open_refused") return fails(op, HOSTLER_E_INVALID, "config.region is missing");
  if (word == "open_without_set") return HOSTLER_OK;
  if (word == "open_pending") return HOSTLER_PENDING;
  if (word == "throw_in_get_extension") throws_in_get_extension = true;
  *out = new hostler_set;
  (*out)->word = word;
  (*out)->id = view(c->set_id);
  (*out)->gate = value_of(config, "gate");
  hostler::driver::log(*h, word == "logs" ? HOSTLER_LOG_WARNING : HOSTLER_LOG_DEBUG, "opened", op);
  return HOSTLER_OK;
}

hostler_status set_info(hostler_set* s, const hostler_set_info_req*, hostler_op* op) {
  auto info = hostler::driver::set_info_record();
  info.account_id = str("account-1");
  info.currency = str("USD");
  info.list_consistency_ms = 1500;
  info.capabilities = HOSTLER_CAP_SPOT | HOSTLER_CAP_USER_DATA;
  if (s->word == "few_tags") info.tags_max = 1;
  if (s->word == "info_none") return HOSTLER_OK;
  hostler::driver::emit(op, info);
  if (s->word == "info_two") hostler::driver::emit(op, info);
  return HOSTLER_OK;
}

/// What a driver that was built with ABI 1.1 finds of it in the host.
const char* growth([[maybe_unused]] const hostler_op* op,
                   [[maybe_unused]] const hostler_quota_group_req* r) {
#ifdef HOSTLER_CREATE_DRY_RUN
  const bool in_op = HOSTLER_HAS(op, hostler_op, grown);
  const bool in_request = HOSTLER_HAS(r, hostler_quota_group_req, grown);
  return in_op && in_request ? "op and request"
         : in_op             ? "op"
         : in_request        ? "request"
                             : "neither op nor request";
#else
  return "this is 1.0";
#endif
}

const hostler_ext_quota_group kQuotaGroup = {
    sizeof kQuotaGroup, 0,
    [](hostler_set* s, const hostler_quota_group_req* r, hostler_op* op) -> hostler_status {
      auto group = hostler::driver::quota_group_record();
      if (s->word == "group_none") return HOSTLER_OK;
      const std::string too_long(256, 'g');
      group.name = s->word == "group_too_long" ? str(too_long) : r->type->provider_type;
      if (s->word == "group_of_growth") group.name = str(growth(op, r));
      for (int i = s->word == "group_two" ? 0 : 1; i < 2; ++i) hostler::driver::emit(op, group);
      return HOSTLER_OK;
    }};
const hostler_ext_host_key kHostKey = {
    sizeof kHostKey, 0, [](hostler_set*, const hostler_verify_req* r, hostler_op* op) {
      return view(r->key_algo) == "ssh-ed25519"
                 ? HOSTLER_OK
                 : fails(op, HOSTLER_E_KEY_MISMATCH, "that is another key");
    }};
/// Emits a price; the word gives the length of the zone's name: "zone of 63".
const hostler_ext_price_history kPrices = {
    sizeof kPrices, 0, [](hostler_set* s, const hostler_price_req*, hostler_op* op) {
      if (!s->word.starts_with("zone of ")) return HOSTLER_E_UNSUPPORTED;
      const std::string zone(std::stoul(s->word.substr(8)), 'z');
      hostler_price price{};
      price.struct_size = sizeof price;
      price.kind = HOSTLER_REC_PRICE;
      price.zone = str(zone);
      price.market = HOSTLER_MARKET_ON_DEMAND;
      op->emit(op, reinterpret_cast<const hostler_rec*>(&price));
      return HOSTLER_OK;
    }};

}  // namespace

extern "C" const hostler_driver* hostler_driver_entry_1(const hostler_host* host) {
  static const hostler_driver table = {
      sizeof(hostler_driver),
      HOSTLER_ABI_MAJOR,
      HOSTLER_ABI_MINOR,
      HOSTLER_ABI_DRAFT,
      0,
      CHAOS_THREADING,
      4,
      0,
      CHAOS_NAME,
      "1.0",
      "hostler tests",
      "Apache-2.0",
      "cpp",
      R"({"type":"object"})",
      &set_open,
      [](hostler_set* s) {
        const Counted counted;
        for (auto& thread : s->threads) thread.join();
        throws_in_get_extension = false;
        const bool throws = s->word == "throw_in_set_close";
        delete s;
        if (throws) throw 1;
      },
      &set_info,
      &create,
      &list,
      &destroy,
      [](hostler_set*, const hostler_set_tags_req*, hostler_op* op) {
        return fails(op, HOSTLER_E_NOT_FOUND, "no such instance");
      },
      [](const char* id) -> const void* {
        const std::string_view wanted = id;
        if (throws_in_get_extension) throw 1;
        if (wanted == HOSTLER_EXT_QUOTA_GROUP) return &kQuotaGroup;
        if (wanted == HOSTLER_EXT_PRICE_HISTORY) return &kPrices;
        return wanted == HOSTLER_EXT_HOST_KEY ? &kHostKey : nullptr;
      }};
  return host->abi_major == HOSTLER_ABI_MAJOR ? &table : nullptr;
}
