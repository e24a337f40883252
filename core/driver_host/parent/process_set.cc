#include "core/driver_host/parent/process_set.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>
#include <vector>

#include "core/driver_host/parent/driver_process.h"
#include "core/driver_host/parent/process_loop.h"
#include "core/plugin_host/calls.h"
#include "core/plugin_host/extension_calls.h"
#include "core/plugin_host/limits.h"
#include "core/plugin_host/outcome.h"

namespace hostler::driver_host {
namespace {

using model::CloudOp;
using plugin_host::HostKeyCheck;
using plugin_host::PriceQuery;
using plugin_host::SetConfig;

class ProcessSet final : public plugin_host::DriverSet {
 public:
  ProcessSet(const std::string& driver, plugin_host::LibraryFile library, ProcessOptions options)
      : process_(driver, library.path.string(), std::move(options)),
        loop_(driver, std::move(library), process_) {}

  // A failed allocation here ends the process, which could not continue safely.
  ~ProcessSet() override { process_.stop(); }  // NOLINT(bugprone-exception-escape)

  void open(SetConfig config, Duration timeout, Done<model::SetInfo> done) override {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    if (is_open_) return info(timeout, std::move(done));
    process_.connection()->address = config.address;
    auto opened = [this, deadline,
                   done = std::move(done)](model::CloudResult<Nothing> result) mutable {
      process_.on_open_ended(result.has_value());
      if (!result) return done(tl::unexpected(std::move(result).error()));
      is_open_ = true;
      info(deadline - std::chrono::steady_clock::now(), std::move(done));
    };
    auto call = make<plugin_host::OpenCall>(config, Done<Nothing>(std::move(opened)));
    process_.open(std::move(call), timeout, [this, config] {
      return make<plugin_host::OpenCall>(config, [this](const model::CloudResult<Nothing>& again) {
        process_.on_open_ended(again.has_value());
      });
    });
  }

  void info(Duration timeout, Done<model::SetInfo> done) override {
    submit<plugin_host::InfoCall>(
        timeout, [this, done = std::move(done)](model::CloudResult<model::SetInfo> result) {
          if (result) {
            const auto limit = static_cast<std::uint32_t>(process_.driver_slots());
            auto& allowed = result->max_concurrency;
            allowed = allowed == 0 ? limit : std::min(allowed, limit);
            process_.set_slots(allowed);
            limits_.learn(*result);
          }
          done(std::move(result));
        });
  }

  void create(model::CreateRequest request, Duration timeout,
              std::function<void(const model::ListedInstance&)> on_record,
              Done<model::ListedInstance> done) override {
    const std::string beyond = limits_.refuse(request);
    auto call =
        make<plugin_host::CreateCall>(std::move(request), std::move(on_record), std::move(done));
    if (beyond.empty()) return submit_call(timeout, std::move(call));
    process_.refuse(std::move(call), plugin_host::cloud_error(model::CloudErrorClass::kInvalid,
                                                              "create: " + beyond));
  }
  void list(model::ListRequest request, Duration timeout,
            Done<std::vector<model::ListedInstance>> done) override {
    submit<plugin_host::ListCall>(timeout, std::move(request), std::move(done));
  }
  void destroy(model::DestroyRequest request, Duration timeout, Done<Nothing> done) override {
    submit<plugin_host::DestroyCall>(timeout, std::move(request), std::move(done));
  }
  void set_tags(model::SetTagsRequest request, Duration timeout, Done<Nothing> done) override {
    submit<plugin_host::SetTagsCall>(timeout, std::move(request), std::move(done));
  }
  void verify_host_key(HostKeyCheck check, Duration timeout, Done<Nothing> done) override {
    submit<plugin_host::VerifyCall>(timeout, std::move(check), std::move(done));
  }
  void price_history(PriceQuery query, Duration timeout,
                     Done<std::vector<model::ZonePrice>> done) override {
    submit<plugin_host::PriceCall>(timeout, std::move(query), std::move(done));
  }
  void quota_group(model::InstanceType type, Duration timeout, Done<std::string> done) override {
    submit<plugin_host::QuotaGroupCall>(timeout, std::move(type), std::move(done));
  }
  void start(model::PowerRequest request, Duration timeout, Done<Nothing> done) override {
    submit<plugin_host::PowerCall>(timeout, CloudOp::kStart, std::move(request), std::move(done));
  }
  void stop(model::PowerRequest request, Duration timeout, Done<Nothing> done) override {
    submit<plugin_host::PowerCall>(timeout, CloudOp::kStop, std::move(request), std::move(done));
  }
  void offerings(model::OfferingsQuery query, Duration timeout,
                 Done<std::vector<model::CloudOffering>> done) override {
    submit<plugin_host::OfferingsCall>(timeout, std::move(query), std::move(done));
  }
  void watch_interruptions(Duration timeout,
                           std::function<void(const model::Interruption&)> on_notice,
                           Done<Nothing> done) override {
    submit<plugin_host::WatchCall>(timeout, std::move(on_notice), std::move(done));
  }
  void read_console(model::ConsoleQuery query, Duration timeout,
                    Done<model::ConsoleText> done) override {
    submit<plugin_host::ConsoleCall>(timeout, std::move(query), std::move(done));
  }
  void list_leftovers(model::Tags tag_filter, Duration timeout,
                      Done<std::vector<model::Leftover>> done) override {
    submit<plugin_host::ListLeftoversCall>(timeout, std::move(tag_filter), std::move(done));
  }
  void destroy_leftover(model::LeftoverDestroyRequest request, Duration timeout,
                        Done<Nothing> done) override {
    submit<plugin_host::DestroyLeftoverCall>(timeout, std::move(request), std::move(done));
  }
  void find_images(model::ImageQuery query, Duration timeout,
                   Done<std::vector<model::Image>> done) override {
    submit<plugin_host::ImagesCall>(timeout, std::move(query), std::move(done));
  }

  [[nodiscard]] plugin_host::SetHealth health() const override { return process_.health(); }

 private:
  template <class C, class... Arguments>
  std::shared_ptr<C> make(Arguments&&... arguments) {
    return std::make_shared<C>(process_.connection(), process_,
                               std::forward<Arguments>(arguments)...);
  }
  template <class C, class... Arguments>
  void submit(Duration timeout, Arguments&&... arguments) {
    submit_call(timeout, make<C>(std::forward<Arguments>(arguments)...));
  }
  void submit_call(Duration timeout, CallTable::Op call) {
    if (is_open_) return process_.submit(std::move(call), timeout);
    process_.refuse(std::move(call), plugin_host::cloud_error(model::CloudErrorClass::kTransient,
                                                              "the set is not open"));
  }

  std::atomic<bool> is_open_ = false;  ///< Has been opened once.
  plugin_host::AccountLimits limits_;
  DriverProcess process_;
  ProcessLoop loop_;  ///< Calls callbacks, which use the members above, until it is destroyed.
};

}  // namespace

std::unique_ptr<plugin_host::DriverSet> make_process_set(const std::string& driver,
                                                         plugin_host::LibraryFile library,
                                                         ProcessOptions options) {
  return std::make_unique<ProcessSet>(driver, std::move(library), std::move(options));
}

}  // namespace hostler::driver_host
