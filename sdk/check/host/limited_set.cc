#include "sdk/check/host/limited_set.h"

#include <chrono>
#include <utility>

#include "sdk/check/host/rate_limit.h"
#include "sdk/check/host/refusal.h"

namespace hostler::check {
namespace {

using plugin_host::DriverSet;
using std::chrono::steady_clock;

/// A call, until it has ended in another way than by the rate.
template <class T>
struct Asked {
  const char* name;
  DriverSet::Done<T> done;
  std::function<void(DriverSet::Done<T>)> make;
  RateLimit::Time began, first_refused;
  int refusals = 0;
};

class LimitedSet final : public DriverSet {
 public:
  LimitedSet(std::unique_ptr<DriverSet> set, Context& context)
      : context_(context), set_(std::move(set)) {}

  void open(plugin_host::SetConfig config, Duration timeout, Done<model::SetInfo> done) override {
    ask("set_open", done, [=, this](auto end) { set_->open(config, timeout, std::move(end)); });
  }
  void info(Duration timeout, Done<model::SetInfo> done) override {
    ask("set_info", done, [=, this](auto end) { set_->info(timeout, std::move(end)); });
  }
  void create(model::CreateRequest request, Duration timeout,
              std::function<void(const model::ListedInstance&)> on_record,
              Done<model::ListedInstance> done) override {
    ask("create", done,
        [=, this](auto end) { set_->create(request, timeout, on_record, std::move(end)); });
  }
  void list(model::ListRequest request, Duration timeout,
            Done<std::vector<model::ListedInstance>> done) override {
    ask("list", done, [=, this](auto end) { set_->list(request, timeout, std::move(end)); });
  }
  void destroy(model::DestroyRequest request, Duration timeout, Done<Nothing> done) override {
    ask("destroy", done, [=, this](auto end) { set_->destroy(request, timeout, std::move(end)); });
  }
  void set_tags(model::SetTagsRequest request, Duration timeout, Done<Nothing> done) override {
    ask("set_tags", done,
        [=, this](auto end) { set_->set_tags(request, timeout, std::move(end)); });
  }
  void verify_host_key(plugin_host::HostKeyCheck check, Duration timeout,
                       Done<Nothing> done) override {
    ask("verify", done,
        [=, this](auto end) { set_->verify_host_key(check, timeout, std::move(end)); });
  }
  void price_history(plugin_host::PriceQuery query, Duration timeout,
                     Done<std::vector<model::ZonePrice>> done) override {
    ask("history", done,
        [=, this](auto end) { set_->price_history(query, timeout, std::move(end)); });
  }
  void quota_group(model::InstanceType type, Duration timeout, Done<std::string> done) override {
    ask("group", done, [=, this](auto end) { set_->quota_group(type, timeout, std::move(end)); });
  }
  void start(model::PowerRequest request, Duration timeout, Done<Nothing> done) override {
    ask("start", done, [=, this](auto end) { set_->start(request, timeout, std::move(end)); });
  }
  void stop(model::PowerRequest request, Duration timeout, Done<Nothing> done) override {
    ask("stop", done, [=, this](auto end) { set_->stop(request, timeout, std::move(end)); });
  }
  void offerings(model::OfferingsQuery query, Duration timeout,
                 Done<std::vector<model::CloudOffering>> done) override {
    ask("offerings", done,
        [=, this](auto end) { set_->offerings(query, timeout, std::move(end)); });
  }
  void watch_interruptions(Duration timeout,
                           std::function<void(const model::Interruption&)> on_notice,
                           Done<Nothing> done) override {
    ask("watch", done,
        [=, this](auto end) { set_->watch_interruptions(timeout, on_notice, std::move(end)); });
  }
  void read_console(model::ConsoleQuery query, Duration timeout,
                    Done<model::ConsoleText> done) override {
    ask("console read", done,
        [=, this](auto end) { set_->read_console(query, timeout, std::move(end)); });
  }
  void list_leftovers(model::Tags tag_filter, Duration timeout,
                      Done<std::vector<model::Leftover>> done) override {
    ask("leftovers list", done,
        [=, this](auto end) { set_->list_leftovers(tag_filter, timeout, std::move(end)); });
  }
  void destroy_leftover(model::LeftoverDestroyRequest request, Duration timeout,
                        Done<Nothing> done) override {
    ask("leftovers destroy", done,
        [=, this](auto end) { set_->destroy_leftover(request, timeout, std::move(end)); });
  }
  void find_images(model::ImageQuery query, Duration timeout,
                   Done<std::vector<model::Image>> done) override {
    ask("images find", done,
        [=, this](auto end) { set_->find_images(query, timeout, std::move(end)); });
  }
  [[nodiscard]] plugin_host::SetHealth health() const override { return set_->health(); }

 private:
  template <class T, class Make>
  void ask(const char* name, Done<T>& done, const Make& make) {
    auto asked = std::make_shared<Asked<T>>();
    asked->name = name;
    asked->done = std::move(done);
    asked->make = make;
    begin(asked);
  }

  template <class T>
  void begin(const std::shared_ptr<Asked<T>>& asked) {
    RateLimit::get().await_turn(context_.settings.rate, context_.findings);
    asked->began = steady_clock::now();
    asked->make([this, asked](model::CloudResult<T> result) {
      if (!result && is_to_wait(result.error(), *asked)) return begin(asked);
      asked->done(std::move(result));
    });
  }

  template <class T>
  bool is_to_wait(const model::CloudError& error, Asked<T>& asked) {
    auto& limit = RateLimit::get();
    if (error.cls != model::CloudErrorClass::kRateLimit || limit.wants_refusals()) return false;
    if (++asked.refusals == 1) asked.first_refused = steady_clock::now();
    if (limit.hold_back(error, asked.began, asked.first_refused, asked.refusals)) return true;
    report_refusal(context_, asked.name, error);
    return false;
  }

  Context& context_;
  const std::unique_ptr<DriverSet> set_;  ///< Ends first: its last callbacks are run.
};

}  // namespace

std::unique_ptr<DriverSet> keep_rate(std::unique_ptr<DriverSet> set, Context& context) {
  return std::make_unique<LimitedSet>(std::move(set), context);
}

}  // namespace hostler::check
