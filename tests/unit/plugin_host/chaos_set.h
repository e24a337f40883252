#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/plugin_host/discovery.h"
#include "core/plugin_host/driver_library.h"
#include "core/plugin_host/driver_set.h"
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

/// What a test chooses of a set, whatever process its driver runs in.
struct ChaosOptions {
  Duration grace = 10s;
  Duration hang = 2s;    ///< Of a driver in a process of its own.
  std::string set = {};  ///< Its name, for the log.
  Duration close_max = 5s;
  std::filesystem::path readable = {};  ///< For the driver; of ChaosSet.
  model::AddressChoice address = model::AddressChoice::kAny;
  std::string program = {};  ///< Another hostler-driver-host than that of the test's build.
};
/// Each program of tests has its own: the driver runs in this process, or in one of its own.
std::unique_ptr<DriverSet> make_set(const std::string& driver, const ChaosOptions& options);

/// A set of a fake driver that misbehaves in the way that `word` selects (sdk/drivers/chaos).
class ChaosSet {
 public:
  explicit ChaosSet(const std::string& word, const ChaosOptions& options = {},
                    const std::string& driver = "fake_chaos")
      : address_(options.address),
        set_(make_set(driver, with_folder(options))),
        opened_(open(word)) {}
  ~ChaosSet() { release(); }
  ChaosSet(const ChaosSet&) = delete;
  ChaosSet& operator=(const ChaosSet&) = delete;

  DriverSet* operator->() { return set_.get(); }
  [[nodiscard]] const model::CloudResult<model::SetInfo>& opened() const { return opened_; }
  void close() { set_.reset(); }
  /// Ends the calls that hang, now or later.
  void release() {
    if (!gate_) gate_ = UniqueFd(::open(gate_path().c_str(), O_RDWR | O_CLOEXEC));
  }

  /// Whether something that the driver has made still waits for release().
  [[nodiscard]] bool is_waited_for() const {
    return UniqueFd(::open(gate_path().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)).get() >= 0;
  }

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
  [[nodiscard]] SetConfig config(const std::string& word) const {
    SetConfig config;
    config.set_id = "s1";
    config.address = address_;
    config.config_json = R"({"do": ")" + word + R"(", "gate": ")" + gate_path() + R"("})";
    return config;
  }

 private:
  [[nodiscard]] ChaosOptions with_folder(ChaosOptions options) const {
    options.readable = folder_.path();
    return options;
  }
  [[nodiscard]] std::string gate_path() const { return (folder_ / "gate").string(); }
  model::CloudResult<model::SetInfo> open(const std::string& word) {
    EXPECT_EQ(::mkfifo(gate_path().c_str(), 0600), 0);
    Awaited<model::SetInfo> opened;
    set_->open(config(word), kPatience, opened.done());
    return opened.get();
  }

  const test::TempFolder folder_;
  const model::AddressChoice address_;
  UniqueFd gate_;
  std::unique_ptr<DriverSet> set_;
  model::CloudResult<model::SetInfo> opened_;
};

}  // namespace hostler::plugin_host
