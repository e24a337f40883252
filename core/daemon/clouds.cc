#include "core/daemon/clouds.h"

#include <chrono>
#include <utility>

#include "core/base/assert.h"
#include "core/daemon/clock.h"
#include "core/driver_host/parent/process_set.h"
#include "core/log/log.h"
#include "core/plugin_host/closed_set.h"
#include "core/plugin_host/discovery.h"
#include "core/plugin_host/in_process_set.h"

namespace hostler::daemon {
namespace {

constexpr Duration kOpenTime = std::chrono::seconds(60);
constexpr Duration kVerifyTime = std::chrono::seconds(30);

/// Each such failure is an event of severity warning, which the event log writes.
bool has_event_of_failure(model::CloudOp op) {
  return op == model::CloudOp::kOpen || op == model::CloudOp::kDestroy ||
         op == model::CloudOp::kSetTags;
}

/// Times one driver call and counts it when it ends.
class Timed {
 public:
  Timed(metrics::Metrics& metrics, std::string set, model::CloudOp op)
      : metrics_(metrics), set_(std::move(set)), op_(op), began_(read_clocks().mono) {}

  template <class T>
  void ended(const model::CloudResult<T>& result) const {
    std::optional<model::CloudErrorClass> error;
    if (!result) error = result.error().cls;
    metrics_.driver_call(set_, op_, error, read_clocks().mono - began_);
    if (!result && result.error().cls != model::CloudErrorClass::kCancelled)
      log::write(has_event_of_failure(op_) ? log::Level::kDebug : log::Level::kWarn,
                 "cloud " + set_,
                 std::string(model::to_string(op_)) + ": " + model::to_string(result.error().cls) +
                     ": " + result.error().message);
  }

 private:
  metrics::Metrics& metrics_;
  const std::string set_;
  const model::CloudOp op_;
  const Mono began_;
};

/// The instances of `local` are processes of this machine, which no sandbox would let it make.
std::string sandbox_of(const SetSource& source) {
  if (!source.sandbox.empty()) return source.sandbox;
  return source.driver == "local" ? "none" : "full";
}

struct Loaded {
  std::unique_ptr<plugin_host::DriverSet> set;
  model::DriverFile file;
};

Result<Loaded> load_driver(const Result<plugin_host::Manifest>& manifest,
                           const DriverSource& drivers, const SetSource& source,
                           const std::string& area) {
  if (!manifest) return tl::unexpected(manifest.error());
  for (const auto& key : manifest->unknown_keys)
    log::warn(area, manifest->file.string() + ": ignored the unknown key " + key);
  model::DriverFile file{manifest->name, manifest->version, {}};
  if (!source.in_process) {
    driver_host::ProcessOptions options;
    options.program = drivers.host_program;
    options.set = source.name;
    options.sandbox = sandbox_of(source);
    auto library = HOSTLER_TRY(plugin_host::check_library(*manifest, drivers.rules));
    file.file = plugin_host::identity_of(library.loadable_name());
    options.driver = file;
    return Loaded{
        driver_host::make_process_set(manifest->name, std::move(library), std::move(options)),
        std::move(file)};
  }
  if (manifest->runtime == "go")
    return fail(Errc::kInvalidArgument,
                "it is written in Go, whose runtime needs a process of its own: isolation: child");
  plugin_host::InProcessOptions options;
  options.set = source.name;
  auto library = HOSTLER_TRY(plugin_host::DriverLibrary::load(*manifest, drivers.rules));
  file.file = plugin_host::identity_of(library->path());
  return Loaded{plugin_host::make_in_process_set(std::move(library), options), std::move(file)};
}

template <class T>
std::optional<model::CloudError> error_of(const model::CloudResult<T>& result) {
  if (result) return std::nullopt;
  return result.error();
}

}  // namespace

Clouds::Clouds(std::vector<SetSource> sets, DriverSource drivers, metrics::Metrics& metrics,
               Post post)
    : metrics_(metrics), post_(std::move(post)), drivers_(std::move(drivers)) {
  for (SetSource& source : sets) {
    Set& set = sets_[source.name];
    set.source = std::move(source);
  }
}

void Clouds::load_drivers() {
  const auto found =
      plugin_host::discover(plugin_host::driver_folders(drivers_.path), drivers_.rules);
  for (auto& [name, set] : sets_) {
    if (set.has_driver) continue;
    const std::string& driver = set.source.driver;
    const std::string area = "driver " + driver + ", set " + name;
    auto made = load_driver(found.find(driver), drivers_, set.source, area);
    set.has_driver = made.has_value();
    if (!made) {
      const std::string why = "driver '" + driver + "' cannot be loaded: " + made.error().message;
      log::error(area, why + "; the set is closed until a reload or a restart finds it");
      made = Loaded{plugin_host::make_closed_set(why), {}};
    }
    set.file = std::move(made->file);
    const MutexLock lock(set.mutex);
    set.driver = std::move(made->set);
  }
}

void Clouds::announce_drivers() const {
  for (const auto& [name, set] : sets_)
    if (set.has_driver) post_(dispatch::DriverLoaded{name, set.file, set.source.in_process});
}

Result<void> Clouds::check_config(const std::string& driver, const std::string& config_json) const {
  const auto found =
      plugin_host::discover(plugin_host::driver_folders(drivers_.path), drivers_.rules);
  const auto manifest = found.find(driver);
  if (!manifest) return {};
  const auto problems = plugin_host::config_problems(*manifest, config_json);
  if (!problems) log::warn("driver " + driver, problems.error().message);
  if (!problems || problems->empty()) return {};
  return fail(Errc::kInvalidArgument, "driver '" + driver + "': " + problems->front());
}

model::DriverView Clouds::driver(const std::string& set) const {
  const auto found = sets_.find(set);
  if (found == sets_.end()) return {};
  const SetSource& source = found->second.source;
  const auto health = driver_of(found->second)->health();
  return {.name = source.driver,
          .version = health.driver_version,
          .isolation = source.in_process ? "in-process" : "child",
          .sandbox = health.sandbox,
          .state = health.state,
          .last_crash = health.last_crash,
          .crashes = health.crashes,
          .broken_rules = health.broken_rules,
          .last_broken_rule = health.last_broken_rule};
}

std::shared_ptr<plugin_host::DriverSet> Clouds::driver_of(const Set& set) {
  const MutexLock lock(set.mutex);
  return set.driver;
}

Clouds::Set& Clouds::named(const std::string& name) {
  const auto found = sets_.find(name);
  HOSTLER_ASSERT(found != sets_.end(),
                 "an effect names a set of the configuration, and each of these has a driver");
  return found->second;
}

void Clouds::execute(const dispatch::OpenSet& effect) {
  const Set& set = named(effect.set);
  const SetSource& source = set.source;
  const Timed timed(metrics_, effect.set, model::CloudOp::kOpen);
  driver_of(set)->open({source.name, source.config_json, source.credentials_json, source.tags},
                       kOpenTime,
                       [this, timed, set = effect.set](model::CloudResult<model::SetInfo> result) {
                         timed.ended(result);
                         post_(dispatch::SetOpened{set, std::move(result)});
                       });
}

void Clouds::execute(const dispatch::UseSet& effect) { named(effect.set).usable = effect.usable; }

void Clouds::execute(const dispatch::CreateCall& effect) {
  const auto driver = driver_of(named(effect.set));
  const Timed timed(metrics_, effect.set, model::CloudOp::kCreate);
  driver->create(
      *effect.request, effect.timeout,
      [this, id = effect.instance](const model::ListedInstance& seen) {
        post_(dispatch::CreateSeen{id, seen});
      },
      [this, timed, id = effect.instance](model::CloudResult<model::ListedInstance> result) {
        timed.ended(result);
        post_(dispatch::CreateEnded{id, error_of(result)});
      });
}

void Clouds::execute(const dispatch::ListCall& effect) {
  const auto driver = driver_of(named(effect.set));
  const Timed timed(metrics_, effect.set, model::CloudOp::kList);
  const Mono sent = read_clocks().mono;
  driver->list(effect.request, effect.timeout,
               [this, timed, sent,
                set = effect.set](model::CloudResult<std::vector<model::ListedInstance>> result) {
                 timed.ended(result);
                 post_(dispatch::SetListed{set, sent, std::move(result)});
               });
}

void Clouds::execute(const dispatch::LookUpCall& effect) {
  const auto driver = driver_of(named(effect.set));
  const Timed timed(metrics_, effect.set, model::CloudOp::kList);
  const Mono sent = read_clocks().mono;
  driver->list(effect.request, effect.timeout,
               [this, timed, sent, set = effect.set, asked = effect.instances](
                   model::CloudResult<std::vector<model::ListedInstance>> result) {
                 timed.ended(result);
                 post_(dispatch::InstancesLookedUp{set, sent, asked, std::move(result)});
               });
}

void Clouds::execute(const dispatch::DestroyCall& effect) {
  const auto driver = driver_of(named(effect.set));
  const Timed timed(metrics_, effect.set, model::CloudOp::kDestroy);
  driver->destroy(effect.request, effect.timeout,
                  [this, timed, id = effect.instance](
                      const model::CloudResult<plugin_host::DriverSet::Nothing>& result) {
                    timed.ended(result);
                    post_(dispatch::DestroyEnded{id, error_of(result)});
                  });
}

void Clouds::execute(const dispatch::TagsCall& effect) {
  const auto driver = driver_of(named(effect.set));
  const Timed timed(metrics_, effect.set, model::CloudOp::kSetTags);
  driver->set_tags(effect.request, effect.timeout,
                   [this, timed, id = effect.instance](
                       const model::CloudResult<plugin_host::DriverSet::Nothing>& result) {
                     timed.ended(result);
                     post_(dispatch::TagsEnded{id, error_of(result)});
                   });
}

void Clouds::execute(const dispatch::PowerCall& effect) {
  const auto driver = driver_of(named(effect.set));
  const auto op = effect.on ? model::CloudOp::kStart : model::CloudOp::kStop;
  const auto ended = [this, timed = Timed(metrics_, effect.set, op), id = effect.instance](
                         const model::CloudResult<plugin_host::DriverSet::Nothing>& result) {
    timed.ended(result);
    post_(dispatch::PowerEnded{id, error_of(result)});
  };
  if (effect.on)
    driver->start(effect.request, effect.timeout, ended);
  else
    driver->stop(effect.request, effect.timeout, ended);
}

void Clouds::execute(const dispatch::PricesCall& effect) {
  const auto driver = driver_of(named(effect.set));
  const Timed timed(metrics_, effect.set, model::CloudOp::kOther);
  driver->price_history({.type = effect.type, .zone = "", .since = effect.since}, effect.timeout,
                        [this, timed, set = effect.set, type = effect.type.name](
                            model::CloudResult<std::vector<model::ZonePrice>> result) {
                          timed.ended(result);
                          post_(dispatch::PricesFetched{set, type, std::move(result)});
                        });
}

/// Not counted as a call: the driver answers without its cloud.
void Clouds::execute(const dispatch::QuotaGroupCall& effect) {
  driver_of(named(effect.set))
      ->quota_group(
          effect.type, effect.timeout,
          [this, set = effect.set, type = effect.type](model::CloudResult<std::string> result) {
            using model::CloudErrorClass;
            if (!result && result.error().cls != CloudErrorClass::kUnsupported &&
                result.error().cls != CloudErrorClass::kCancelled)
              log::write(log::Level::kWarn, "cloud " + set,
                         "quota group of " + type.name + ": " + result.error().message);
            post_(dispatch::QuotaGroupFetched{set, type, std::move(result)});
          });
}

void Clouds::verify_host_key(const std::string& set, plugin_host::HostKeyCheck check,
                             std::function<void(model::CloudResult<bool>)> vouched) {
  const auto found = sets_.find(set);
  if (found == sets_.end() || !found->second.usable) {
    const bool is_known = found != sets_.end();
    model::CloudError refusal;
    refusal.cls =
        is_known ? model::CloudErrorClass::kTransient : model::CloudErrorClass::kUnsupported;
    refusal.message = is_known ? "the set is not open" : "no such instance set";
    return vouched(tl::unexpected(std::move(refusal)));
  }
  driver_of(found->second)
      ->verify_host_key(std::move(check), kVerifyTime,
                        [vouched = std::move(vouched)](
                            const model::CloudResult<plugin_host::DriverSet::Nothing>& result) {
                          if (result) return vouched(true);
                          if (result.error().cls == model::CloudErrorClass::kKeyMismatch)
                            return vouched(false);
                          vouched(tl::unexpected(result.error()));
                        });
}

}  // namespace hostler::daemon
