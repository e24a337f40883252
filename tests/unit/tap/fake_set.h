#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/plugin_host/driver_set.h"

namespace hostler::tap {

/// A set in memory. Its calls are answered before they return. `fail_next`: what the next call of
/// any kind ends with.
class FakeSet final : public plugin_host::DriverSet {
 public:
  std::optional<model::CloudError> fail_next;
  std::string zone = "west-1";
  bool loses_answers = false;  ///< Of creates, which make their instances.
  std::vector<model::CloudOffering> offered;
  std::map<std::string, model::ListedInstance> instances;
  std::vector<model::CreateRequest> creates;
  plugin_host::SetConfig config;
  int destroys = 0, destroys_that_fail = 0;

  void open(plugin_host::SetConfig with, Duration, Done<model::SetInfo> done) override {
    config = std::move(with);
    answer(done, [&] { return set_info(); });
  }
  void info(Duration, Done<model::SetInfo> done) override {
    answer(done, [&] { return set_info(); });
  }
  void create(model::CreateRequest request, Duration,
              std::function<void(const model::ListedInstance&)> on_record,
              Done<model::ListedInstance> done) override {
    creates.push_back(request);
    if (loses_answers) {
      const Done<model::ListedInstance> asked = std::exchange(done, [](const auto&) {});
      asked(tl::unexpected(error(model::CloudErrorClass::kTimeout, "no answer")));
    }
    answer(done, [&] {
      model::ListedInstance made;
      made.id = "i-" + std::to_string(++last_);
      made.idempotency_key = request.idempotency_key;
      made.zone = zone;
      made.state = model::CloudState::kPending;
      instances[made.id] = made;
      if (loses_answers) return made;
      if (on_record) on_record(made);
      return made;
    });
  }
  void list(model::ListRequest, Duration, Done<std::vector<model::ListedInstance>> done) override {
    answer(done, [&] {
      std::vector<model::ListedInstance> out;
      for (const auto& [id, instance] : instances) out.push_back(instance);
      return out;
    });
  }
  void destroy(model::DestroyRequest request, Duration, Done<Nothing> done) override {
    ++destroys;
    if (destroys_that_fail > 0) {
      --destroys_that_fail;
      fail_next = error(model::CloudErrorClass::kTransient, "try later");
    }
    answer(done, [&] {
      instances.erase(request.id);
      return Nothing{};
    });
  }
  void set_tags(model::SetTagsRequest, Duration, Done<Nothing> done) override { nothing(done); }
  void verify_host_key(plugin_host::HostKeyCheck, Duration, Done<Nothing> done) override {
    nothing(done);
  }
  void price_history(plugin_host::PriceQuery, Duration,
                     Done<std::vector<model::ZonePrice>> done) override {
    answer(done, [] { return std::vector<model::ZonePrice>(1); });
  }
  void quota_group(model::InstanceType, Duration, Done<std::string> done) override {
    answer(done, [] { return std::string("group"); });
  }
  void start(model::PowerRequest, Duration, Done<Nothing> done) override { nothing(done); }
  void stop(model::PowerRequest, Duration, Done<Nothing> done) override { nothing(done); }
  void offerings(model::OfferingsQuery, Duration,
                 Done<std::vector<model::CloudOffering>> done) override {
    answer(done, [&] { return offered; });
  }
  void watch_interruptions(Duration, std::function<void(const model::Interruption&)> on_notice,
                           Done<Nothing> done) override {
    on_notice({.instance_id = "i-1", .text = "soon", .at = {}});
    nothing(done);
  }
  void read_console(model::ConsoleQuery, Duration, Done<model::ConsoleText> done) override {
    answer(done, [] { return model::ConsoleText{.bytes = "the host's private key", .as_of = {}}; });
  }
  void list_leftovers(model::Tags, Duration, Done<std::vector<model::Leftover>> done) override {
    answer(done, [] { return std::vector<model::Leftover>(1); });
  }
  void destroy_leftover(model::LeftoverDestroyRequest, Duration, Done<Nothing> done) override {
    nothing(done);
  }
  void find_images(model::ImageQuery, Duration, Done<std::vector<model::Image>> done) override {
    answer(done, [] { return std::vector<model::Image>(1); });
  }
  [[nodiscard]] plugin_host::SetHealth health() const override { return {}; }

  static model::CloudError error(model::CloudErrorClass cls, std::string message) {
    model::CloudError out;
    out.cls = cls;
    out.message = std::move(message);
    return out;
  }

 private:
  template <class T, class Make>
  void answer(const Done<T>& done, const Make& make) {
    if (auto failure = std::exchange(fail_next, std::nullopt))
      done(tl::unexpected(*std::move(failure)));
    else
      done(make());
  }
  void nothing(const Done<Nothing>& done) {
    answer(done, [] { return Nothing{}; });
  }
  [[nodiscard]] static model::SetInfo set_info() {
    model::SetInfo out;
    out.account_id = "account";
    out.currency = "USD";
    return out;
  }

  int last_ = 0;
};

/// The next call ends at once, whatever its result is.
template <class T>
plugin_host::DriverSet::Done<T> ignored() {
  return [](model::CloudResult<T>) {};
}

}  // namespace hostler::tap
