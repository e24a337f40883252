// What Clouds does when the configuration or credentials are read: which sets get another driver.
#include <utility>

#include "core/base/clock.h"
#include "core/daemon/clouds.h"
#include "core/log/log.h"
#include "core/tap/recorder.h"

namespace hostler::daemon {
namespace {

std::string cannot_load(const SetSource& wanted, const Error& error) {
  return "driver '" + wanted.driver + "' cannot be loaded: " + error.message +
         " (tried again at each reload)";
}

}  // namespace

void Clouds::reload(const std::vector<SetSource>& sets, plugin_host::DriverRules rules) {
  const MutexLock lock(reloading_);
  drivers_.rules = std::move(rules);
  const auto found = discover();
  for (const SetSource& wanted : sets) {
    Set& set = named(wanted.name);
    if (set.wanted.credentials_command != wanted.credentials_command) set.command_output.reset();
    set.wanted = wanted;
    reload(set, found);
  }
}

plugin_host::Discovery Clouds::discover() const {
  return plugin_host::discover(drivers_.folders, drivers_.rules);
}

Result<void> Clouds::check_config(const std::string& driver, const std::string& config_json) const {
  const MutexLock lock(reloading_);
  const auto manifest = discover().find(driver);
  if (!manifest) return {};
  const auto problems = plugin_host::config_problems(*manifest, config_json);
  if (!problems) log::warn("driver " + driver, problems.error().message);
  if (!problems || problems->empty()) return {};
  return fail(Errc::kInvalidArgument, "driver '" + driver + "': " + problems->front());
}

// ---- credentials -------------------------------------------------------------------------------

/// Thread of a watch.
void Clouds::renew_credentials(const std::string& name, const Result<std::string>& credentials) {
  {
    const MutexLock lock(reloading_);
    Set& set = named(name);
    if (!credentials) return credentials_unread(set, credentials.error().message);
    if (!set.wanted.credentials_command.empty())
      set.command_output = *credentials;
    else
      set.wanted.credentials_json = *credentials;
    reload(set, discover());
    announce(set);
  }
  post_(dispatch::CredentialsRenewed{name});
}

void Clouds::credentials_unread(Set& set, const std::string& why) {
  const std::string text = "the credentials could not be read: " + why;
  if (set.drivers.newest().identity.empty()) return put_closed(set, set.wanted, text);
  log::error("cloud " + set.source.name, text + "; those from before stay in use");
  status_.credentials_unread(set.source.name, read_clocks().wall, why);
}

// ---- drivers -----------------------------------------------------------------------------------

void Clouds::reload(Set& set, const plugin_host::Discovery& drivers) {
  SetSource wanted = set.wanted;
  if (!wanted.credentials_command.empty()) {
    if (!set.command_output) return wait_for_credentials(set);
    wanted.credentials_json = *set.command_output;
  }
  use(set, wanted, drivers);
}

/// Until the command has ended, the driver from before stays in use, if there is one.
void Clouds::wait_for_credentials(Set& set) {
  if (!set.drivers.newest().identity.empty()) return;
  auto closed = make_closed_driver(set.wanted, "its credentials_command has not ended yet");
  (void)set.drivers.replace(closed);
}

void Clouds::use(Set& set, const SetSource& wanted, const plugin_host::Discovery& drivers) {
  set.waits_for_room = false;
  const auto newest = set.drivers.newest();
  const bool is_loaded = !newest.identity.empty();
  auto files = find_driver(drivers, drivers_.rules, wanted);
  if (files)
    for (const auto& key : files->manifest.unknown_keys)
      log::warn("driver " + wanted.driver + ", set " + wanted.name,
                files->manifest.file.string() + ": ignored the unknown key " + key);
  if (!files && is_loaded) {
    set.drivers.drop_successor();
    return refuse_reload(wanted.name, files.error().message);
  }
  if (!files) return put_closed(set, wanted, cannot_load(wanted, files.error()));
  if (is_loaded && newest.source == wanted && newest.identity == files->identity) {
    set.drivers.drop_successor();
    return status_.set_succeeded(wanted.name);
  }
  if (set.drivers.has_successor(wanted, files->identity)) return;
  set.waits_for_room = set.drivers.is_crowded();
  if (set.waits_for_room)
    return refuse_reload(wanted.name,
                         "two earlier drivers of the set are not closed yet; it is "
                         "tried again as soon as one of them is");
  auto fresh = load_driver(*std::move(files), drivers_, wanted);
  if (!fresh && is_loaded) return refuse_reload(wanted.name, fresh.error().message);
  if (!fresh) return put_closed(set, wanted, cannot_load(wanted, fresh.error()));
  record(set, *fresh);
  if (!set.drivers.replace(*fresh)) return open_successor(set, *std::move(fresh));
  status_.set_succeeded(wanted.name);
}

/// Thread of the closer. A reload that came while many drivers were being closed is made up for.
void Clouds::closed(const std::string& name) {
  const MutexLock lock(reloading_);
  Set& set = named(name);
  if (stopping_ || !set.waits_for_room) return;
  reload(set, discover());
  announce(set);
}

/// A file that cannot be used is no reason to do without the cloud.
void Clouds::record(Set& set, LoadedDriver& fresh) {
  const SetSource& source = set.source;
  if (source.record.empty()) return;
  if (!set.recording) {
    auto file = tap::RecordingFile::open({.path = source.record,
                                          .bytes_max = source.record_max,
                                          .set = source.name,
                                          .driver = source.driver,
                                          .clock = read_clocks});
    if (!file)
      return log::error(
          "cloud " + source.name,
          "its calls are not recorded (tried again with the next driver): " + file.error().message);
    set.recording = *std::move(file);
  }
  fresh.driver = tap::record(std::move(fresh.driver), set.recording, fresh.file.version);
}

void Clouds::begin(const std::map<std::string, CredentialWatches::Watched>& credentials) {
  for (auto& [name, set] : sets_) announce(set);
  credentials_.watch(credentials);
}

/// What is posted last is what is in use, whichever thread has changed it.
void Clouds::announce(const Set& set) {
  const MutexLock lock(announcing_);
  if (auto file = set.drivers.file_in_use())
    post_(dispatch::DriverLoaded{set.source.name, *std::move(file)});
}

void Clouds::put_closed(Set& set, const SetSource& wanted, const std::string& why) {
  log::error("driver " + wanted.driver + ", set " + wanted.name, why + "; the set is closed");
  auto closed = make_closed_driver(wanted, why);
  // Where a driver has been opened meanwhile, it stays in use.
  if (!set.drivers.replace(closed)) refuse_reload(wanted.name, why);
}

/// Until its account was compared, it gets no other calls: UseDriver says when.
void Clouds::open_successor(Set& set, LoadedDriver fresh) {
  const std::string name = fresh.source.name;
  log::info("cloud " + name, "opens a driver with the new settings or files beside the one in use");
  const auto number = set.drivers.add_successor(std::move(fresh));
  const auto driver = set.drivers.use_successor(number);
  const Mono began = read_clocks().mono;
  // The answer keeps no use of the driver: one that is dropped meanwhile is closed at once.
  driver->open(set.drivers.config_of(number), kOpenTime,
               [this, &set, number, began, name](model::CloudResult<model::SetInfo> result) {
                 std::optional<model::CloudErrorClass> error;
                 if (!result) error = result.error().cls;
                 metrics_.driver_call(name, model::CloudOp::kOpen, error,
                                      read_clocks().mono - began);
                 if (!set.drivers.successor_ended(number, result.has_value())) return;
                 if (result)
                   status_.set_succeeded(name);
                 else
                   open_refused(name, result.error());
                 post_(dispatch::SuccessorOpened{name, std::move(result), number});
               });
}

/// New credentials may be valid only some seconds after they were made.
void Clouds::open_refused(const std::string& set, const model::CloudError& error) {
  credentials_.failed(set, error);
  refuse_reload(set, error.message);
}

void Clouds::refuse_reload(const std::string& set, const std::string& why) {
  log::error("cloud " + set, "the new settings or driver are not used: " + why +
                                 "; those from before stay in use until a reload succeeds");
  status_.set_refused(set, read_clocks().wall, why);
}

void Clouds::execute(const dispatch::UseDriver& effect) {
  Set& set = named(effect.set);
  set.drivers.take_over(effect.driver);
  announce(set);
  log::info("cloud " + effect.set, "uses the driver with the new settings or files");
}

}  // namespace hostler::daemon
