#include "core/daemon/clouds.h"

#include <chrono>
#include <utility>

#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/daemon/timed_call.h"
#include "core/log/log.h"

namespace hostler::daemon {
namespace {

constexpr Duration kVerifyTime = std::chrono::seconds(30), kConsoleTime = std::chrono::seconds(60);

template <class T>
std::optional<model::CloudError> error_of(const model::CloudResult<T>& result) {
  if (result) return std::nullopt;
  return result.error();
}

model::DriverView view_of(const std::string& name, const plugin_host::SetHealth& health) {
  return {.name = name,
          .version = health.driver_version,
          .sandbox = health.sandbox,
          .memory_limit = health.memory_limit,
          .cpu_limit = health.cpu_limit,
          .state = health.state,
          .opening = health.opening,
          .last_crash = health.last_crash,
          .crashes = health.crashes,
          .broken_rules = health.broken_rules,
          .last_broken_rule = health.last_broken_rule,
          .pending = {},
          .draining = 0};
}

}  // namespace

Clouds::Set::Set(DriverCloser& closer, const SetSource& its, std::function<void()> closed)
    : source(its),
      drivers(closer, make_closed_driver(its, "its driver is not loaded yet"), std::move(closed)),
      wanted(its) {}

Clouds::Clouds(const std::vector<SetSource>& sets, DriverSource drivers, metrics::Metrics& metrics,
               ReloadStatus& status, Post post)
    : metrics_(metrics),
      status_(status),
      post_(std::move(post)),
      drivers_(std::move(drivers)),
      credentials_([this](const std::string& set, const Result<std::string>& read) {
        renew_credentials(set, read);
      }) {
  for (const SetSource& source : sets)
    sets_.try_emplace(source.name, closer_, source, [this, name = source.name] { closed(name); });
}

Clouds::~Clouds() {
  credentials_.stop();
  {
    const MutexLock lock(reloading_);
    stopping_ = true;
  }
  for (auto& [name, set] : sets_) set.drivers.close_all();
  closer_.wait();  // side by side; calls that end say so to their set
}

model::DriverView Clouds::driver(const std::string& name) {
  const auto found = sets_.find(name);
  if (found == sets_.end()) return {};
  Set& set = found->second;
  model::DriverView view = view_of(set.source.driver, set.drivers.use()->health());
  view.draining = set.drivers.draining();
  if (auto refused = status_.problem_of(name))
    view.pending = *std::move(refused);
  else if (set.drivers.has_successor())
    view.pending = "a driver with newer settings or of a newer version is being opened";
  return view;
}

Clouds::Set& Clouds::named(const std::string& name) {
  const auto found = sets_.find(name);
  HOSTLER_ASSERT(found != sets_.end(),
                 "an effect names a set of the configuration, and each of these has a driver");
  return found->second;
}

void Clouds::execute(const dispatch::OpenSet& effect) {
  auto& drivers = named(effect.set).drivers;
  const auto driver = drivers.use_to_open();
  const TimedCall timed(metrics_, credentials_, effect.set, model::CloudOp::kOpen, drivers,
                        driver.number());
  driver->open(drivers.config_of(driver.number()), kOpenTime,
               [this, timed, &drivers, set = effect.set,
                number = driver.number()](model::CloudResult<model::SetInfo> result) {
                 drivers.open_ended(number, result.has_value());
                 timed.ended(result);
                 post_(dispatch::SetOpened{set, std::move(result), number});
               });
}

void Clouds::execute(const dispatch::UseSet& effect) { named(effect.set).usable = effect.usable; }

/// A call of the driver in use, kept while it is made, and until its answer.
struct Clouds::Call {
  Call(Clouds& clouds, const std::string& set, model::CloudOp op)
      : driver(clouds.named(set).drivers.use()),
        timed(clouds.metrics_, clouds.credentials_, set, op, clouds.named(set).drivers,
              driver.number()) {}
  const SetDrivers::Use driver;
  const TimedCall timed;
};

void Clouds::execute(const dispatch::CreateCall& effect) {
  const Call call(*this, effect.set, model::CloudOp::kCreate);
  call.driver->create(
      *effect.request, effect.timeout,
      [this, id = effect.instance](const model::ListedInstance& seen) {
        post_(dispatch::CreateSeen{id, seen});
      },
      [this, timed = call.timed,
       id = effect.instance](model::CloudResult<model::ListedInstance> result) {
        timed.ended(result);
        post_(dispatch::CreateEnded{id, error_of(result)});
      });
}

void Clouds::execute(const dispatch::ListCall& effect) {
  const Call call(*this, effect.set, model::CloudOp::kList);
  const Mono sent = read_clocks().mono;
  call.driver->list(effect.request, effect.timeout,
                    [this, timed = call.timed, sent, set = effect.set](
                        model::CloudResult<std::vector<model::ListedInstance>> result) {
                      timed.ended(result);
                      post_(dispatch::SetListed{set, sent, std::move(result).map(model::share)});
                    });
}

void Clouds::execute(const dispatch::LookUpCall& effect) {
  const Call call(*this, effect.set, model::CloudOp::kList);
  const Mono sent = read_clocks().mono;
  call.driver->list(effect.request, effect.timeout,
                    [this, timed = call.timed, sent, set = effect.set, asked = effect.instances](
                        model::CloudResult<std::vector<model::ListedInstance>> result) {
                      timed.ended(result);
                      post_(dispatch::InstancesLookedUp{set, sent, asked, std::move(result)});
                    });
}

void Clouds::execute(const dispatch::DestroyCall& effect) {
  const Call call(*this, effect.set, model::CloudOp::kDestroy);
  call.driver->destroy(effect.request, effect.timeout,
                       [this, timed = call.timed, id = effect.instance](
                           model::CloudResult<plugin_host::DriverSet::Nothing> result) {
                         timed.ended(result);
                         post_(dispatch::DestroyEnded{id, error_of(result)});
                       });
}

void Clouds::execute(const dispatch::TagsCall& effect) {
  const Call call(*this, effect.set, model::CloudOp::kSetTags);
  call.driver->set_tags(effect.request, effect.timeout,
                        [this, timed = call.timed, id = effect.instance](
                            model::CloudResult<plugin_host::DriverSet::Nothing> result) {
                          timed.ended(result);
                          post_(dispatch::TagsEnded{id, error_of(result)});
                        });
}

void Clouds::execute(const dispatch::PowerCall& effect) {
  const Call call(*this, effect.set, effect.on ? model::CloudOp::kStart : model::CloudOp::kStop);
  const auto ended = [this, timed = call.timed, id = effect.instance](
                         model::CloudResult<plugin_host::DriverSet::Nothing> result) {
    timed.ended(result);
    post_(dispatch::PowerEnded{id, error_of(result)});
  };
  if (effect.on)
    call.driver->start(effect.request, effect.timeout, ended);
  else
    call.driver->stop(effect.request, effect.timeout, ended);
}

void Clouds::execute(const dispatch::PricesCall& effect) {
  const Call call(*this, effect.set, model::CloudOp::kOther);
  call.driver->price_history(
      {.type = effect.type, .since = effect.since}, effect.timeout,
      [this, timed = call.timed, set = effect.set, type = effect.type.name,
       number = effect.number](model::CloudResult<std::vector<model::ZonePrice>> result) {
        timed.ended(result);
        post_(dispatch::PricesFetched{set, type, number, std::move(result)});
      });
}

void Clouds::execute(const dispatch::ConsoleCall& effect) {
  const Call call(*this, effect.set, model::CloudOp::kConsole);
  call.driver->read_console(effect.query, effect.timeout,
                            [this, timed = call.timed,
                             id = effect.instance](model::CloudResult<model::ConsoleText> result) {
                              timed.ended(result);
                              post_(dispatch::ConsoleRead{id, std::move(result)});
                            });
}

void Clouds::execute(const dispatch::ImagesCall& effect) {
  const Call call(*this, effect.set, model::CloudOp::kImages);
  call.driver->find_images(
      effect.query, effect.timeout,
      [this, timed = call.timed, set = effect.set, query = effect.query,
       number = effect.number](model::CloudResult<std::vector<model::Image>> result) {
        timed.ended(result);
        post_(dispatch::ImagesFetched{set, query, number, std::move(result)});
      });
}

void Clouds::execute(const dispatch::OfferingsCall& effect) {
  const Call call(*this, effect.set, model::CloudOp::kOfferings);
  call.driver->offerings({}, effect.timeout,
                         [this, timed = call.timed, set = effect.set, number = effect.number](
                             model::CloudResult<std::vector<model::CloudOffering>> result) {
                           timed.ended(result);
                           post_(dispatch::OfferingsFetched{set, number, std::move(result)});
                         });
}

void Clouds::execute(const dispatch::LeftoversCall& effect) {
  const Call call(*this, effect.set, model::CloudOp::kLeftovers);
  call.driver->list_leftovers(effect.tag_filter, effect.timeout,
                              [this, timed = call.timed, set = effect.set, number = effect.number](
                                  model::CloudResult<std::vector<model::Leftover>> result) {
                                timed.ended(result);
                                post_(dispatch::LeftoversListed{set, number, std::move(result)});
                              });
}

void Clouds::execute(const dispatch::DestroyLeftoverCall& effect) {
  const Call call(*this, effect.set, model::CloudOp::kDestroyLeftover);
  call.driver->destroy_leftover(
      effect.request, effect.timeout,
      [this, timed = call.timed, set = effect.set, type = effect.request.type,
       id = effect.request.id](model::CloudResult<plugin_host::DriverSet::Nothing> result) {
        timed.ended(result);
        post_(dispatch::LeftoverDestroyed{set, type, id, error_of(result)});
      });
}

/// Its driver is not kept until its end: another one takes over at once, and ends it.
void Clouds::execute(const dispatch::WatchCall& effect) {
  auto& drivers = named(effect.set).drivers;
  const auto driver = drivers.use();
  const Mono began = read_clocks().mono;
  driver->watch_interruptions(
      effect.timeout,
      [this, set = effect.set, number = effect.number](const model::Interruption& notice) {
        post_(dispatch::NoticesSeen{set, number, {notice}});
      },
      [this, began, &drivers, driver = driver.number(), set = effect.set,
       number = effect.number](model::CloudResult<plugin_host::DriverSet::Nothing> result) {
        std::optional<model::CloudErrorClass> cls;
        if (!result) cls = result.error().cls;
        // Other credentials that came into use since may be good.
        if (!result && drivers.is_in_use(driver)) credentials_.failed(set, result.error());
        if (cls != model::CloudErrorClass::kUnsupported)
          metrics_.driver_call(set, model::CloudOp::kWatch, cls, read_clocks().mono - began);
        post_(dispatch::WatchEnded{set, number, error_of(result)});
      });
}

/// Not counted as a call: the driver answers without its cloud.
void Clouds::execute(const dispatch::QuotaGroupCall& effect) {
  auto& drivers = named(effect.set).drivers;
  const auto driver = drivers.use();
  drivers.begin_use(driver.number());
  driver->quota_group(effect.type, effect.timeout,
                      [this, &drivers, number = driver.number(), set = effect.set,
                       type = effect.type](model::CloudResult<std::string> result) {
                        using model::CloudErrorClass;
                        drivers.end_use(number);
                        if (!result && result.error().cls != CloudErrorClass::kUnsupported &&
                            result.error().cls != CloudErrorClass::kCancelled)
                          log::write(log::Level::kWarn, "cloud " + set,
                                     "quota group of " + type.name + ": " + result.error().message);
                        post_(dispatch::QuotaGroupFetched{set, type, std::move(result)});
                      });
}

model::CloudResult<Clouds::Set*> Clouds::usable(const std::string& name) {
  const auto found = sets_.find(name);
  if (found != sets_.end() && found->second.usable) return &found->second;
  const bool is_known = found != sets_.end();
  model::CloudError refusal;
  refusal.cls =
      is_known ? model::CloudErrorClass::kTransient : model::CloudErrorClass::kUnsupported;
  refusal.message = is_known ? "the set is not open" : "no such instance set";
  return tl::unexpected(std::move(refusal));
}

void Clouds::read_console(const std::string& set, model::ConsoleQuery query,
                          std::function<void(model::CloudResult<model::ConsoleText>)> done) {
  const auto found = usable(set);
  if (!found) return done(tl::unexpected(found.error()));
  auto& drivers = (*found)->drivers;
  const auto driver = drivers.use();
  const TimedCall timed(metrics_, credentials_, set, model::CloudOp::kConsole, drivers,
                        driver.number());
  driver->read_console(
      std::move(query), kConsoleTime,
      [timed, done = std::move(done)](model::CloudResult<model::ConsoleText> result) {
        timed.ended(result);
        done(std::move(result));
      });
}

void Clouds::verify_host_key(const std::string& set, plugin_host::HostKeyCheck check,
                             std::function<void(model::CloudResult<bool>)> vouched) {
  const auto found = usable(set);
  if (!found) return vouched(tl::unexpected(found.error()));
  auto& drivers = (*found)->drivers;
  const auto driver = drivers.use();
  drivers.begin_use(driver.number());
  driver->verify_host_key(std::move(check), kVerifyTime,
                          [&drivers, number = driver.number(), vouched = std::move(vouched)](
                              model::CloudResult<plugin_host::DriverSet::Nothing> result) {
                            drivers.end_use(number);
                            if (result) return vouched(true);
                            if (result.error().cls == model::CloudErrorClass::kKeyMismatch)
                              return vouched(false);
                            vouched(tl::unexpected(result.error()));
                          });
}

}  // namespace hostler::daemon
