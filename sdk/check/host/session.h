#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/plugin_host/driver_set.h"
#include "sdk/check/host/load.h"
#include "sdk/check/host/orders.h"
#include "sdk/check/host/relay.h"

namespace hostler::check {

/// One set of the driver, called as hostlerd calls it, one call at a time. A broken rule becomes a
/// failure of the test. Each call blocks until it has ended, options.deadline + patience at most.
///
/// Calls keep within the rate of the cloud (limited_set.h).
///
/// The destructor destroys the machines that create() has made, and closes the set.
class Session {
 public:
  template <class T>
  using Got = model::CloudResult<T>;
  using Nothing = plugin_host::DriverSet::Nothing;

  /// Puts a set around that of the driver.
  using Wrap = std::function<std::unique_ptr<plugin_host::DriverSet>(
      std::unique_ptr<plugin_host::DriverSet>)>;

  Session(Context& context, std::shared_ptr<const plugin_host::DriverLibrary> library,
          const Wrap& wrap = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// With the settings' config. True: it is open. Else the test is skipped or fails, by what the
  /// settings say of the cloud.
  bool open_or_skip(const std::string& set_id = kSetId);
  Got<model::SetInfo> open(plugin_host::SetConfig config);
  [[nodiscard]] plugin_host::SetConfig config(const std::string& set_id = kSetId) const;

  /// A machine of the settings' type, by the key. It is destroyed at the end. If the quota is used
  /// up by machines that are being destroyed, it waits for their end.
  Got<model::ListedInstance> create(const model::CreateRequest& request);
  /// Waits for that where the settings have a quota: a create that comes is refused by none.
  void await_room();
  /// How many machines a test may have at once.
  [[nodiscard]] int machines_max() const;
  [[nodiscard]] model::CreateRequest request(const std::string& key) const {
    return order(key).request;
  }
  /// By a new key.
  [[nodiscard]] model::CreateRequest request() { return request(new_key()); }
  /// A request, and what proves the machine that it makes.
  [[nodiscard]] Order order(const std::string& key) const;
  /// A key that no other test and no other run has.
  [[nodiscard]] std::string new_key();
  Got<std::vector<model::ListedInstance>> list(model::ListRequest request = {});
  /// The machines of the list that exist and have this key; none if there is no list.
  std::vector<model::ListedInstance> of_key(const std::string& key);
  Got<Nothing> destroy(model::DestroyRequest request);
  /// The machine of this id, of whatever set it is.
  Got<Nothing> destroy(const std::string& id);
  /// As hostlerd does it: only if the machine is of this set and has its key.
  Got<Nothing> destroy(const model::ListedInstance& machine);
  Got<Nothing> set_tags(model::SetTagsRequest request);
  Got<Nothing> start(const std::string& id);
  Got<Nothing> stop(const std::string& id);

  /// Any other call: `start(set, timeout, done)`.
  template <class T, class Start>
  Got<T> call(const char* name, const Start& start, std::optional<Duration> timeout = {}) {
    auto promise = std::make_shared<std::promise<Got<T>>>();
    auto answer = promise->get_future();
    const auto began = std::chrono::steady_clock::now() - context_.findings.waited();
    start(*set_, timeout.value_or(timeout_),
          [promise](Got<T> result) { promise->set_value(std::move(result)); });
    Got<T> result = answer.get();
    took_ = std::chrono::steady_clock::now() - context_.findings.waited() - began;
    note(name, result ? std::string() : result.error().message);
    return result;
  }

  /// Of the calls that follow; the deadline of the options unless it is set.
  void set_timeout(Duration timeout) { timeout_ = timeout; }
  /// How long the last call took, without waits for the cloud's rate.
  [[nodiscard]] Duration took() const { return took_; }
  [[nodiscard]] const model::SetInfo& info() const { return info_; }
  [[nodiscard]] plugin_host::DriverSet& set() { return *set_; }
  [[nodiscard]] const Library& library() const { return library_; }
  /// How long a change may take to be seen in a list.
  [[nodiscard]] Duration consistency() const;
  /// Closes the set, and looks at what the driver leaves behind. Once.
  void close();

  static constexpr const char* kSetId = kKitSet;
  /// An id that no machine has.
  static constexpr const char* kNobody = "i-driver-check-nobody";

 private:
  bool find_image();
  void note(const char* name, const std::string& message);
  void note_late_rules(const char* name);
  void destroy_made();
  Got<model::ListedInstance> create_once(const model::CreateRequest& request);
  /// Waits until no machine is listed as TERMINATING. False: none was, or one still is.
  bool await_leaving();

  Context& context_;
  Library library_;
  std::unique_ptr<plugin_host::DriverSet> set_;
  Duration timeout_, took_{};
  model::SetInfo info_;
  std::string image_;  ///< What the site's query has found; empty: it has none.
  std::map<std::string, std::string> made_;  ///< Keys of machines by their ids.
  std::uint64_t broken_rules_ = 0;
  bool is_open_ = false;
};

}  // namespace hostler::check
