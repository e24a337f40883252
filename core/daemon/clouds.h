#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/daemon/credential_watch.h"
#include "core/daemon/driver_closer.h"
#include "core/daemon/driver_loader.h"
#include "core/daemon/reload_status.h"
#include "core/daemon/set_drivers.h"
#include "core/dispatch/events.h"
#include "core/metrics/metrics.h"
#include "core/model/views.h"
#include "core/plugin_host/driver_set.h"
#include "core/tap/recording_file.h"

namespace hostler::daemon {

/// Every instance set with its driver. Calls may come from any thread and return at once; the
/// answers of the clouds are posted as events, and counted.
class Clouds {
 public:
  using Post = std::function<void(dispatch::Event)>;

  /// The sets have no drivers yet. `metrics` and `status` must outlive it.
  Clouds(const std::vector<SetSource>& sets, DriverSource drivers, metrics::Metrics& metrics,
         ReloadStatus& status, Post post);
  /// Finds and loads the drivers of the sets. Where the settings of a set or the files of its
  /// driver are not those in use, a second driver is opened beside the one in use, and takes over
  /// with UseDriver. If it cannot, the one in use stays, and `status` says so. A set that has no
  /// driver that could be loaded is closed, and to open it fails with the reason.
  ///
  /// `sets`: the same sets, in any order. Blocks on files. Any thread.
  void reload(const std::vector<SetSource>& sets, plugin_host::DriverRules rules);
  /// Posts which driver each set has in use, and from then on reads the credentials of the sets
  /// again from time to time, and when a cloud refuses them; those that changed are used as a
  /// reload would use them. After each reload(), the first time before any other call; one thread
  /// at a time.
  void begin(const std::map<std::string, CredentialWatches::Watched>& credentials);
  /// Holds a set's `config` against the schema of its driver. Success also if that cannot be done.
  /// Blocks on files.
  [[nodiscard]] Result<void> check_config(const std::string& driver,
                                          const std::string& config_json) const;
  /// Ends the calls under way; instances stay. Blocks until the drivers' threads have ended.
  ~Clouds();

  void execute(const dispatch::OpenSet& effect);
  void execute(const dispatch::UseSet& effect);
  void execute(const dispatch::UseDriver& effect);
  void execute(const dispatch::CreateCall& effect);
  void execute(const dispatch::ListCall& effect);
  void execute(const dispatch::LookUpCall& effect);
  void execute(const dispatch::DestroyCall& effect);
  void execute(const dispatch::TagsCall& effect);
  void execute(const dispatch::PowerCall& effect);
  void execute(const dispatch::PricesCall& effect);
  void execute(const dispatch::QuotaGroupCall& effect);
  void execute(const dispatch::ConsoleCall& effect);
  void execute(const dispatch::ImagesCall& effect);
  void execute(const dispatch::OfferingsCall& effect);
  void execute(const dispatch::LeftoversCall& effect);
  void execute(const dispatch::DestroyLeftoverCall& effect);
  void execute(const dispatch::WatchCall& effect);

  /// The driver of a set, as it is now. Any thread.
  [[nodiscard]] model::DriverView driver(const std::string& set);

  /// Asks a set's driver whether the key belongs to the instance; refused while the set may not be
  /// used. Calls `vouched` once, on a thread of the set or at once.
  void verify_host_key(const std::string& set, plugin_host::HostKeyCheck check,
                       std::function<void(model::CloudResult<bool>)> vouched);
  /// Asks a set's driver for the console of an instance; refused while the set may not be used.
  /// Calls `done` once, on a thread of the set or at once.
  void read_console(const std::string& set, model::ConsoleQuery query,
                    std::function<void(model::CloudResult<model::ConsoleText>)> done);

 private:
  struct Set {
    Set(DriverCloser& closer, const SetSource& source, std::function<void()> closed);
    const SetSource source;  ///< The first; its settings are newer in the drivers.
    SetDrivers drivers;
    // All four guarded by reloading_, which clang cannot express here.
    SetSource wanted;  ///< As the last reload had it, with newer credentials of a file.
    std::optional<std::string> command_output;      ///< The last credentials of a command.
    std::shared_ptr<tap::RecordingFile> recording;  ///< Null: its calls are not recorded.
    bool waits_for_room = false;                    ///< Its reload, for drivers to be closed.
    std::atomic<bool> usable = false;               ///< As UseSet says.
  };

  static constexpr Duration kOpenTime = std::chrono::seconds(60);

  struct Call;

  [[nodiscard]] Set& named(const std::string& name);
  /// The set, if it may be used now.
  [[nodiscard]] model::CloudResult<Set*> usable(const std::string& name);
  [[nodiscard]] plugin_host::Discovery discover() const HOSTLER_REQUIRES(reloading_);
  void reload(Set& set, const plugin_host::Discovery& drivers) HOSTLER_REQUIRES(reloading_);
  void use(Set& set, const SetSource& wanted, const plugin_host::Discovery& drivers)
      HOSTLER_REQUIRES(reloading_);
  void renew_credentials(const std::string& name, const Result<std::string>& credentials);
  void credentials_unread(Set& set, const std::string& why) HOSTLER_REQUIRES(reloading_);
  void wait_for_credentials(Set& set) HOSTLER_REQUIRES(reloading_);
  void announce(const Set& set);
  /// An earlier driver of the set was closed.
  void closed(const std::string& name);
  void record(Set& set, LoadedDriver& fresh) HOSTLER_REQUIRES(reloading_);
  void put_closed(Set& set, const SetSource& wanted, const std::string& why);
  void open_successor(Set& set, LoadedDriver fresh);
  void open_refused(const std::string& set, const model::CloudError& error);
  void refuse_reload(const std::string& set, const std::string& why);

  metrics::Metrics& metrics_;
  ReloadStatus& status_;
  const Post post_;
  mutable Mutex reloading_;
  DriverSource drivers_ HOSTLER_GUARDED_BY(reloading_);
  bool stopping_ HOSTLER_GUARDED_BY(reloading_) = false;
  Mutex announcing_;
  std::map<std::string, Set> sets_;  ///< Always has the same sets.
  CredentialWatches credentials_;
  DriverCloser closer_;  ///< Ends first: what it closes still answers to its set.
};

}  // namespace hostler::daemon
