#include "core/plugin_host/in_process_set.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/text.h"
#include "core/log/log.h"
#include "core/plugin_host/call_runner.h"
#include "core/plugin_host/calls.h"
#include "core/plugin_host/extension_calls.h"
#include "core/plugin_host/host_table.h"
#include "core/plugin_host/limits.h"
#include "core/plugin_host/serial_gate.h"

namespace hostler::plugin_host {
namespace {

using namespace std::chrono_literals;
using model::CloudOp;

/// For its turn among the calls of other sets, one of which may hang. The set stays open then.
constexpr Duration kTurnMax = 24h;

/// Of a library that allows one call at a time; null: it allows more, in different sets at least.
SerialGate* serial_gate(const DriverLibrary& library) {
  const auto threading = library.table().threading;
  const bool is_free =
      threading == HOSTLER_THREAD_CONCURRENT || threading == HOSTLER_THREAD_SERIAL_SET;
  return is_free ? nullptr : &library.serial_gate();
}

CallRunner::Options runner_options(const DriverLibrary& library, const InProcessOptions& options) {
  const auto& driver = library.table();
  const bool concurrent = driver.threading == HOSTLER_THREAD_CONCURRENT;
  return {
      .log_area = log_area(library.name(), options.set),
      .abi_minor = driver.abi_minor,
      .slots = concurrent ? std::min<std::size_t>(driver.max_concurrency, options.threads_max) : 1,
      .queue_max = options.queue_max,
      .grace = options.grace,
      .serial_gate = serial_gate(library)};
}

/// Calls set_close in its turn, if the driver allows one call at a time.
void call_set_close(const Connection& connection) {
  struct Turn {
    SerialGate* gate;
    ~Turn() {
      if (gate != nullptr) gate->leave();
    }
  };
  SerialGate* const gate = serial_gate(*connection.library);
  if (gate != nullptr && !gate->enter(std::chrono::steady_clock::now() + kTurnMax)) return;
  const Turn turn{gate};
  connection.driver().set_close(connection.set);
}

/// Runs set_close on a thread of its own, since it may hang like any other call. Waits for
/// `time` at most, and returns whether set_close has returned by then.
bool close_set(const std::shared_ptr<Connection>& connection, const std::string& area,
               Duration time) {
  struct Closing {
    Mutex mutex;
    Condition closed;
    bool done HOSTLER_GUARDED_BY(mutex) = false;
  };
  auto closing = std::make_shared<Closing>();
  std::thread([closing, connection, area] {
    const LogAs as(area);
    try {
      call_set_close(*connection);
    } catch (...) {
      log::error(area, "R45: an exception left set_close");
    }
    const MutexLock lock(closing->mutex);
    closing->done = true;
    closing->closed.notify_all();
  }).detach();
  const MutexLock lock(closing->mutex);
  return closing->closed.wait_for(closing->mutex, time,
                                  [&]() HOSTLER_REQUIRES(closing->mutex) { return closing->done; });
}

/// Keeps an object that a driver still uses alive until the process ends.
void keep_for_ever(std::shared_ptr<void> object) {
  struct Kept {
    Mutex mutex;
    std::vector<std::shared_ptr<void>> all HOSTLER_GUARDED_BY(mutex);
  };
  static auto* const kept = new Kept;
  const MutexLock lock(kept->mutex);
  kept->all.push_back(std::move(object));
}

class InProcessSet final : public DriverSet {
 public:
  InProcessSet(const std::shared_ptr<const DriverLibrary>& library, const InProcessOptions& options)
      : area_(log_area(library->name(), options.set)),
        close_max_(options.close_max),
        connection_(std::make_shared<Connection>(library)),
        runner_(std::make_shared<CallRunner>(runner_options(*library, options))) {
    runner_->start();
  }

  // A failed allocation here ends the process, which could not continue safely.
  ~InProcessSet() override {  // NOLINT(bugprone-exception-escape)
    if (!runner_->stop()) {
      // The driver still uses these objects.
      log::error(area_,
                 "calls hang in the driver while its set is closed: the set stays open until "
                 "this process ends");
      keep_for_ever(runner_);
      keep_for_ever(connection_);
    } else if (connection_->set != nullptr) {
      name_set_in_log(connection_->set, "");
      if (!close_set(connection_, area_, close_max_))
        log::error(area_, serial_gate(*connection_->library) == nullptr
                              ? "R25: set_close has not returned in time"
                              : "R25: set_close has not returned in time, or has not been called: "
                                "the driver allows one call at a time in all sets");
    }
  }

  void open(SetConfig config, Duration timeout, Done<model::SetInfo> done) override {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    connection_->address = config.address;
    auto opened = [this, deadline,
                   done = std::move(done)](model::CloudResult<Nothing> result) mutable {
      if (!result) return done(tl::unexpected(std::move(result).error()));
      name_set_in_log(connection_->set, area_);
      info(deadline - std::chrono::steady_clock::now(), std::move(done));
    };
    if (connection_->set != nullptr) {  // an earlier open was abandoned, and succeeded later
      return runner_->post([opened = std::move(opened)]() mutable { opened(Nothing{}); });
    }
    submit<OpenCall>(timeout, std::move(config), Done<Nothing>(std::move(opened)));
  }

  void info(Duration timeout, Done<model::SetInfo> done) override {
    const std::size_t limit = connection_->driver().max_concurrency;
    submit_if_open<InfoCall>(
        timeout, [this, limit, done = std::move(done)](model::CloudResult<model::SetInfo> result) {
          if (result) {
            auto& allowed = result->max_concurrency;
            allowed = allowed == 0 ? static_cast<std::uint32_t>(limit)
                                   : std::min(allowed, static_cast<std::uint32_t>(limit));
            runner_->lower_slots(allowed);
            limits_.learn(*result);
          }
          done(std::move(result));
        });
  }

  void create(model::CreateRequest request, Duration timeout,
              std::function<void(const model::ListedInstance&)> on_record,
              Done<model::ListedInstance> done) override {
    CreateCall::OnRecord pass_on;
    if (on_record) {
      pass_on = [runner = runner_.get(), on_record](const model::ListedInstance& seen) {
        runner->post([on_record, seen] { on_record(seen); });
      };
    }
    if (std::string beyond = limits_.refuse(request); !beyond.empty()) {
      return runner_->refuse(
          std::make_shared<CreateCall>(connection_, *runner_, std::move(request),
                                       std::move(pass_on), std::move(done)),
          cloud_error(model::CloudErrorClass::kInvalid, "create: " + std::move(beyond)));
    }
    submit_if_open<CreateCall>(timeout, std::move(request), std::move(pass_on), std::move(done));
  }

  void list(model::ListRequest request, Duration timeout,
            Done<std::vector<model::ListedInstance>> done) override {
    submit_if_open<ListCall>(timeout, std::move(request), std::move(done));
  }
  void destroy(model::DestroyRequest request, Duration timeout, Done<Nothing> done) override {
    submit_if_open<DestroyCall>(timeout, std::move(request), std::move(done));
  }
  void set_tags(model::SetTagsRequest request, Duration timeout, Done<Nothing> done) override {
    submit_if_open<SetTagsCall>(timeout, std::move(request), std::move(done));
  }
  void verify_host_key(HostKeyCheck check, Duration timeout, Done<Nothing> done) override {
    submit_if_open<VerifyCall>(timeout, std::move(check), std::move(done));
  }
  void price_history(PriceQuery query, Duration timeout,
                     Done<std::vector<model::ZonePrice>> done) override {
    submit_if_open<PriceCall>(timeout, std::move(query), std::move(done));
  }
  void quota_group(model::InstanceType type, Duration timeout, Done<std::string> done) override {
    submit_if_open<QuotaGroupCall>(timeout, std::move(type), std::move(done));
  }
  void start(model::PowerRequest request, Duration timeout, Done<Nothing> done) override {
    submit_if_open<PowerCall>(timeout, CloudOp::kStart, std::move(request), std::move(done));
  }
  void stop(model::PowerRequest request, Duration timeout, Done<Nothing> done) override {
    submit_if_open<PowerCall>(timeout, CloudOp::kStop, std::move(request), std::move(done));
  }
  void offerings(model::OfferingsQuery query, Duration timeout,
                 Done<std::vector<model::CloudOffering>> done) override {
    submit_if_open<OfferingsCall>(timeout, std::move(query), std::move(done));
  }
  void watch_interruptions(Duration timeout,
                           std::function<void(const model::Interruption&)> on_notice,
                           Done<Nothing> done) override {
    submit_if_open<WatchCall>(
        timeout,
        [runner = runner_.get(), on_notice](const model::Interruption& notice) {
          runner->post([on_notice, notice] { on_notice(notice); });
        },
        std::move(done));
  }
  void read_console(model::ConsoleQuery query, Duration timeout,
                    Done<model::ConsoleText> done) override {
    submit_if_open<ConsoleCall>(timeout, std::move(query), std::move(done));
  }
  void list_leftovers(model::Tags tag_filter, Duration timeout,
                      Done<std::vector<model::Leftover>> done) override {
    submit_if_open<ListLeftoversCall>(timeout, std::move(tag_filter), std::move(done));
  }
  void destroy_leftover(model::LeftoverDestroyRequest request, Duration timeout,
                        Done<Nothing> done) override {
    submit_if_open<DestroyLeftoverCall>(timeout, std::move(request), std::move(done));
  }
  void find_images(model::ImageQuery query, Duration timeout,
                   Done<std::vector<model::Image>> done) override {
    submit_if_open<ImagesCall>(timeout, std::move(query), std::move(done));
  }

  [[nodiscard]] SetHealth health() const override {
    SetHealth health = runner_->health();
    const char* const version = connection_->driver().version;
    health.driver_version = version == nullptr ? "" : printable(version, 80);
    health.state = health.suspended              ? "suspended: two calls hang"
                   : connection_->set != nullptr ? "open"
                                                 : "not open";
    return health;
  }

 private:
  template <class C, class... Arguments>
  void submit(Duration timeout, Arguments&&... arguments) {
    runner_->submit(
        std::make_shared<C>(connection_, *runner_, std::forward<Arguments>(arguments)...), timeout);
  }
  template <class C, class... Arguments>
  void submit_if_open(Duration timeout, Arguments&&... arguments) {
    if (connection_->set != nullptr) {
      return submit<C>(timeout, std::forward<Arguments>(arguments)...);
    }
    runner_->refuse(
        std::make_shared<C>(connection_, *runner_, std::forward<Arguments>(arguments)...),
        cloud_error(model::CloudErrorClass::kTransient, "the set is not open"));
  }

  const std::string area_;
  const Duration close_max_;
  AccountLimits limits_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<CallRunner> runner_;
};

}  // namespace

std::unique_ptr<DriverSet> make_in_process_set(std::shared_ptr<const DriverLibrary> library,
                                               InProcessOptions options) {
  return std::make_unique<InProcessSet>(library, options);
}

}  // namespace hostler::plugin_host
