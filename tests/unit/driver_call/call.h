#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <hostler/driver.hpp>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace hostler::driver::test {

/// A copy of an emitted instance.
struct Seen {
  std::string id, key, set_id, owner, zone, address, request_id, state_error;
  std::map<std::string, std::string> tags;
  std::uint32_t state = 0, market = 0, state_error_scope = 0;
  hostler_status state_error_status = HOSTLER_OK;
  std::int64_t price = 0, interruption = 0;
  bool tags_unknown = false;
};

struct SeenOffering {
  std::string type, zone, architecture;
  std::int64_t price = 0;
  std::uint64_t ram = 0, scratch = 0;
  std::uint32_t vcpus = 0, available = 0, market = 0, gpus = 0;
  std::vector<std::string> gpu_groups = {};  ///< "2 a100 of 40960 MiB"
};

struct SeenImage {
  std::string id, name, owner, architecture;
  std::int64_t created = 0;
};

struct SeenPrice {
  std::string zone;
  std::int64_t start = 0, price = 0;
  std::uint32_t market = 0;
};

struct SeenLeftover {
  std::string type, id, instance;
  std::map<std::string, std::string> tags;
};

struct SeenNotice {
  std::string id, text;
  std::int64_t at = 0;
  std::uint32_t action = 0;
};

/// One operation with all that came of it. `op` is for one call.
class Call {
 public:
  explicit Call(int timeout_ms = 30'000);

  /// Runs `body`, which makes the call, to its end. \return its status, 0 if it threw nothing.
  template <class Body>
  hostler_status run(const Body& body) {
    status = driver::guard(&op, body);
    if (status == HOSTLER_PENDING) status = wait();
    return status;
  }

  void cancel();  ///< From any thread.

  struct Op : hostler_op {
    Call* call = nullptr;
  } op;
  struct Error : hostler_error {
    Call* call = nullptr;
  } error;
  hostler_status status = 0;
  std::map<std::uint32_t, std::string> texts;  ///< By HOSTLER_TEXT_*
  std::vector<Seen> instances;
  std::vector<SeenOffering> offerings;
  std::vector<SeenImage> images;
  std::vector<SeenPrice> prices;
  std::vector<SeenLeftover> leftovers;
  std::vector<SeenNotice> notices;
  std::string quota_group;
  std::function<void()> on_notice;        ///< Called after each.
  std::string account, currency;          ///< Of set_info.
  std::uint64_t capabilities = 0;         ///< Of set_info.
  std::uint64_t user_data_max_bytes = 0;  ///< Of set_info.
  std::string console;
  std::uint64_t console_begin = 0;

  [[nodiscard]] const std::string& message() { return texts[HOSTLER_TEXT_MESSAGE]; }
  [[nodiscard]] bool outcome_unknown() const {
    return (error.flags & HOSTLER_EF_OUTCOME_UNKNOWN) != 0;
  }

 private:
  hostler_status wait();  ///< Until a PENDING call has ended.

  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;         // under mutex_
  hostler_status end_status_ = 0;  // under mutex_
  bool cancelled_ = false;         // under mutex_
  void (*on_cancel_)(void*) = {};  // under mutex_
  void* on_cancel_arg_ = nullptr;
};

}  // namespace hostler::driver::test
