#include "core/daemon/set_drivers.h"

#include <utility>

#include "core/base/assert.h"

namespace hostler::daemon {

SetDrivers::SetDrivers(DriverCloser& closer, LoadedDriver first, std::function<void()> closed)
    : closer_(closer), closed_(std::move(closed)) {
  const MutexLock lock(mutex_);
  entries_[order_.in_use()].loaded = std::move(first);
}

// ---- calls -------------------------------------------------------------------------------------

plugin_host::DriverSet& SetDrivers::begin(Number driver) {
  const auto found = entries_.find(driver);
  HOSTLER_ASSERT(found != entries_.end(), "a driver is kept while it is used or may be");
  order_.begin_use(driver);
  return *found->second.loaded.driver;
}

SetDrivers::Use SetDrivers::use() {
  const MutexLock lock(mutex_);
  const Number number = order_.in_use();
  return {*this, number, begin(number)};
}

SetDrivers::Use SetDrivers::use_to_open() {
  const MutexLock lock(mutex_);
  const Number number = order_.in_use();
  ++entries_.at(number).opening;
  return {*this, number, begin(number)};
}

void SetDrivers::open_ended(Number driver, bool opened) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(driver);
  if (found == entries_.end()) return;
  --found->second.opening;
  found->second.was_open |= opened;
}

plugin_host::SetConfig SetDrivers::config_of(Number driver) const {
  const MutexLock lock(mutex_);
  const SetSource& source = entries_.at(driver).loaded.source;
  return {source.name, source.config_json, source.credentials_json, source.tags, source.address};
}

bool SetDrivers::is_in_use(Number driver) const {
  const MutexLock lock(mutex_);
  return order_.in_use() == driver;
}

void SetDrivers::begin_use(Number driver) {
  const MutexLock lock(mutex_);
  order_.begin_use(driver);
}

void SetDrivers::end_use(Number driver) {
  const MutexLock lock(mutex_);
  order_.end_use(driver);
  close_idle();
}

// ---- which driver ------------------------------------------------------------------------------

SetDrivers::Newest SetDrivers::newest() const {
  const MutexLock lock(mutex_);
  const LoadedDriver& loaded = entries_.at(order_.newest_opened()).loaded;
  return {loaded.source, loaded.identity};
}

bool SetDrivers::is_replaceable() const {
  const Number number = order_.newest_opened();
  const Entry& entry = entries_.at(number);
  return number == order_.in_use() && !entry.was_open && entry.opening == 0;
}

bool SetDrivers::replace(LoadedDriver& fresh) {
  const MutexLock lock(mutex_);
  if (!is_replaceable()) return false;
  entries_[order_.replace()].loaded = std::move(fresh);
  close_idle();
  return true;
}

SetDrivers::Number SetDrivers::add_successor(LoadedDriver fresh) {
  const MutexLock lock(mutex_);
  const Number number = order_.add_successor();
  entries_[number].loaded = std::move(fresh);
  close_idle();
  return number;
}

SetDrivers::Use SetDrivers::use_successor(Number driver) {
  const MutexLock lock(mutex_);
  return {*this, driver, begin(driver)};
}

bool SetDrivers::successor_ended(Number driver, bool opened) {
  const MutexLock lock(mutex_);
  if (order_.successor() != driver) return false;
  if (opened) {
    (void)order_.opened(driver);
    entries_.at(driver).was_open = true;
  } else {
    order_.drop(driver);
    close_idle();
  }
  return true;
}

bool SetDrivers::has_successor(const SetSource& source, const std::string& identity) const {
  const MutexLock lock(mutex_);
  const auto number = order_.successor();
  if (!number) return false;
  const auto& loaded = entries_.at(*number).loaded;
  return loaded.source == source && loaded.identity == identity;
}

bool SetDrivers::has_successor() const {
  const MutexLock lock(mutex_);
  return order_.successor().has_value();
}

void SetDrivers::drop_successor() {
  const MutexLock lock(mutex_);
  if (const auto number = order_.successor()) order_.drop(*number);
  close_idle();
}

void SetDrivers::take_over(Number driver) {
  const MutexLock lock(mutex_);
  order_.take_over(driver);
  close_idle();
}

std::optional<model::DriverFile> SetDrivers::file_in_use() const {
  const MutexLock lock(mutex_);
  const LoadedDriver& loaded = entries_.at(order_.in_use()).loaded;
  if (loaded.identity.empty()) return std::nullopt;
  return loaded.file;
}

std::size_t SetDrivers::draining() const {
  const MutexLock lock(mutex_);
  return order_.draining() + closing_;
}

// ---- the end -----------------------------------------------------------------------------------

void SetDrivers::close_idle() {
  for (const Number number : order_.take_closable()) {
    const auto found = entries_.find(number);
    if (found == entries_.end()) continue;  // close_all() has it
    close(found->second);
    entries_.erase(found);
  }
}

void SetDrivers::close(Entry& entry) {
  ++closing_;
  closer_.close(std::move(entry.loaded.driver), [this] {
    {
      const MutexLock lock(mutex_);
      --closing_;
    }
    closed_();
  });
}

void SetDrivers::close_all() {
  const MutexLock lock(mutex_);
  if (const auto successor = order_.successor()) order_.drop(*successor);
  for (auto& [number, entry] : std::exchange(entries_, {})) close(entry);
}

}  // namespace hostler::daemon
