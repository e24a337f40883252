#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plugin_host/discovery.h"
#include "core/plugin_host/driver_library.h"
#include "core/plugin_host/in_process_set.h"
#include "tests/temp_folder.h"

namespace hostler::plugin_host {

using namespace std::chrono_literals;

/// A timeout for events that must happen; long enough for a busy machine.
inline constexpr auto kPatience = 60s;

/// Waits for the result of one call.
template <class T>
class Awaited {
 public:
  DriverSet::Done<T> done() {
    return [promise = promise_](model::CloudResult<T> result) {
      promise->set_value(std::move(result));
    };
  }
  model::CloudResult<T> get() {
    if (future_.wait_for(kPatience) != std::future_status::ready) {
      ADD_FAILURE() << "no result";
      std::abort();
    }
    return future_.get();
  }
  bool has_arrived() { return future_.wait_for(0s) == std::future_status::ready; }

 private:
  std::shared_ptr<std::promise<model::CloudResult<T>>> promise_ =
      std::make_shared<std::promise<model::CloudResult<T>>>();
  std::future<model::CloudResult<T>> future_ = promise_->get_future();
};

/// A copy of a fake driver's folder that only this user can change; the build's may belong to
/// somebody else.
inline std::filesystem::path trusted_copy(const std::string& name) {
  static const test::TempFolder all;
  const auto copy = all / name;
  if (std::filesystem::create_directory(copy)) {
    std::filesystem::copy(HOSTLER_TEST_DRIVERS "/" + name, copy);
    for (const auto& file : std::filesystem::directory_iterator(copy))
      std::filesystem::permissions(file, std::filesystem::perms(0644));
    std::filesystem::permissions(copy, std::filesystem::perms(0755));
  }
  return copy;
}

inline std::shared_ptr<const DriverLibrary> load_fake(const std::string& name) {
  const auto found = discover({trusted_copy(name)}).find(name);
  if (!found) ADD_FAILURE() << found.error().message;
  auto library = DriverLibrary::load(*found);
  if (!library) ADD_FAILURE() << library.error().message;
  return *library;
}

/// A set of a fake driver that misbehaves in the way that `word` selects (drivers/chaos.cc).
class ChaosSet {
 public:
  explicit ChaosSet(const std::string& word, InProcessOptions options = {},
                    const std::string& driver = "fake_chaos")
      : set_(make_in_process_set(load_fake(driver), options)), opened_(open(word)) {}

  DriverSet* operator->() { return set_.get(); }
  [[nodiscard]] const model::CloudResult<model::SetInfo>& opened() const { return opened_; }
  void close() { set_.reset(); }

  model::CloudResult<model::ListedInstance> create(Duration timeout = kPatience) {
    Awaited<model::ListedInstance> created;
    set_->create(request(), timeout, {}, created.done());
    return created.get();
  }
  model::CloudResult<std::vector<model::ListedInstance>> list(Duration timeout = kPatience) {
    Awaited<std::vector<model::ListedInstance>> listed;
    set_->list({}, timeout, listed.done());
    return listed.get();
  }

  static model::CreateRequest request() {
    model::CreateRequest request;
    request.idempotency_key = "key-1";
    request.type.name = "small";
    request.type.provider_type = "p.small";
    return request;
  }
  static SetConfig config(const std::string& word) {
    SetConfig config;
    config.set_id = "s1";
    config.config_json = R"({"do": ")" + word + R"("})";
    return config;
  }

 private:
  model::CloudResult<model::SetInfo> open(const std::string& word) {
    Awaited<model::SetInfo> opened;
    set_->open(config(word), kPatience, opened.done());
    return opened.get();
  }

  std::unique_ptr<DriverSet> set_;
  model::CloudResult<model::SetInfo> opened_;
};

/// Ends all calls that hang, now or later, in the open sets of a fake driver.
inline void release_hung(const std::string& driver = "fake_chaos") {
  ChaosSet release("release", {}, driver);
}

}  // namespace hostler::plugin_host
