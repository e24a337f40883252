#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/base/mutex.h"
#include "core/daemon/driver_closer.h"
#include "core/daemon/driver_loader.h"
#include "core/daemon/succession.h"

namespace hostler::daemon {

/// The drivers of one set: the one in use, one that is to follow it, and those before it until
/// their calls are over. See Succession. Threads: any.
class SetDrivers {
 public:
  using Number = Succession::Number;

  /// Keeps a driver for as long as it exists, so that it can be called.
  class Use {
   public:
    Use(SetDrivers& drivers, Number number, plugin_host::DriverSet& driver)
        : drivers_(drivers), number_(number), driver_(driver) {}
    ~Use() { drivers_.end_use(number_); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    plugin_host::DriverSet* operator->() const { return &driver_; }
    [[nodiscard]] Number number() const { return number_; }

   private:
    SetDrivers& drivers_;
    const Number number_;
    plugin_host::DriverSet& driver_;
  };

  /// What new settings and files are compared with.
  struct Newest {
    SetSource source;
    std::string identity;  ///< Empty: it could not be loaded.
  };

  /// `closer` must outlive it; `first` is in use. `closed` is called after each driver that was
  /// closed. close_all() must come before the destructor, and all must be closed by then.
  SetDrivers(DriverCloser& closer, LoadedDriver first, std::function<void()> closed);

  /// The driver that new calls go to.
  [[nodiscard]] Use use();
  /// The same for a call that opens it; open_ended() must follow.
  [[nodiscard]] Use use_to_open();
  void open_ended(Number driver, bool opened);
  /// With what it is opened.
  [[nodiscard]] plugin_host::SetConfig config_of(Number driver) const;
  /// New calls go to this driver.
  [[nodiscard]] bool is_in_use(Number driver) const;
  /// A call of the driver was sent; the driver is kept until end_use() says that it was answered.
  void begin_use(Number driver);
  void end_use(Number driver);

  [[nodiscard]] Newest newest() const;
  /// The new driver is in use at once. False, and nothing changes: the one in use has been open,
  /// or is being opened, or a successor has been opened.
  [[nodiscard]] bool replace(LoadedDriver& fresh);
  /// A new driver beside the one in use, which the caller opens.
  [[nodiscard]] Number add_successor(LoadedDriver fresh);
  [[nodiscard]] Use use_successor(Number driver);
  /// How its open has ended; one that failed is closed. False: a later one came meanwhile.
  [[nodiscard]] bool successor_ended(Number driver, bool opened);
  /// Whether a driver with these settings and files is being opened.
  [[nodiscard]] bool has_successor(const SetSource& source, const std::string& identity) const;
  [[nodiscard]] bool has_successor() const;
  void drop_successor();
  /// New calls go to this driver, which was opened; the one before is closed after its calls.
  void take_over(Number driver);
  /// The file of the driver that new calls go to. Nothing: it could not be loaded.
  [[nodiscard]] std::optional<model::DriverFile> file_in_use() const;
  /// Earlier drivers whose calls are not over, or that are being closed.
  [[nodiscard]] std::size_t draining() const;
  /// So many drain that another reload has to wait: each may have a process that hangs.
  [[nodiscard]] bool is_crowded() const { return draining() >= kDrainingMax; }

  /// Has all calls ended and all drivers closed by the closer. Nothing else may be called after it,
  /// but for what their calls call when they end.
  void close_all();

 private:
  static constexpr std::size_t kDrainingMax = 2;

  struct Entry {
    LoadedDriver loaded;
    bool was_open = false;
    int opening = 0;  ///< Calls that open it.
  };

  [[nodiscard]] bool is_replaceable() const HOSTLER_REQUIRES(mutex_);
  [[nodiscard]] plugin_host::DriverSet& begin(Number driver) HOSTLER_REQUIRES(mutex_);
  void close_idle() HOSTLER_REQUIRES(mutex_);
  void close(Entry& entry) HOSTLER_REQUIRES(mutex_);

  DriverCloser& closer_;
  const std::function<void()> closed_;
  mutable Mutex mutex_;
  Succession order_ HOSTLER_GUARDED_BY(mutex_);
  std::map<Number, Entry> entries_ HOSTLER_GUARDED_BY(mutex_);
  std::size_t closing_ HOSTLER_GUARDED_BY(mutex_) = 0;  ///< The closer has not closed these yet.
};

}  // namespace hostler::daemon
