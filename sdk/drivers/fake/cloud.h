#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "chance.h"
#include "clock.h"
#include "machine.h"
#include "market.h"
#include "settings.h"

namespace hostler::fake {

/// What somebody asks for.
struct Order {
  std::string key, type, zone;  ///< No zone: the cloud chooses.
  bool spot = false;
  std::int64_t price_cap = 0;  ///< 0: none.
  std::string remote_user;     ///< Likewise.
  Tags tags;
};

/// An account of the fake cloud. Every function throws driver::Error as a cloud would refuse the
/// request. Threads: any; it waits for nobody.
class Cloud {
 public:
  /// `settings.cloud` names the cloud: who gives the same name gets the same one, with its first
  /// settings. Without a name it is a new one.
  static std::shared_ptr<Cloud> of(const Settings& settings);

  explicit Cloud(Settings settings);

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const Market& market() const { return market_; }
  [[nodiscard]] const Chance& chance() const { return chance_; }
  Clock& clock() { return clock_; }

  /// How many calls of this name were made before.
  std::uint64_t count_call(const std::string& name);
  void limit_rate(std::int64_t now);

  /// The machine of the order's key; it is made if there is none.
  Machine create(const Order& order, std::int64_t now);
  /// Whether one more machine of the type could be made in the zone, quotas aside.
  [[nodiscard]] bool is_available(const std::string& type, const std::string& zone,
                                  std::int64_t now) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return has_stock(type, zone, now);
  }
  /// What a list shows.
  std::vector<Machine> list(std::int64_t now);
  /// `id` or, if that is empty, `key`. Of one that is not there: nothing.
  void destroy(std::string_view id, std::string_view key, std::string_view expected_set,
               std::int64_t now);
  /// Changes the tags by `change`, a void(Tags&).
  template <class Change>
  void change_tags(std::string_view id, std::int64_t now, const Change& change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Machine* const machine = find(id, {}, now);
    if (machine == nullptr)
      throw driver::Error(HOSTLER_E_NOT_FOUND, "no machine " + std::string(id));
    change(machine->tags);
  }

 private:
  Machine* find(std::string_view id, std::string_view key, std::int64_t now);
  void check_limits(const Order& order, std::int64_t now) const;
  [[nodiscard]] std::string zone_for(const Order& order, bool is_accepted, std::int64_t now) const;
  [[nodiscard]] bool has_stock(const std::string& type, const std::string& zone,
                               std::int64_t now) const;
  template <class Which>
  [[nodiscard]] std::int64_t count(std::int64_t now, const Which& which) const;
  [[nodiscard]] const TypeSettings* type_of(const std::string& name) const;

  const Settings settings_;
  const Chance chance_;
  const Market market_;
  Clock clock_;

  std::mutex mutex_;
  std::map<std::string, Machine> machines_;  ///< By key; also those that have ended.
  std::map<std::string, std::uint64_t> calls_;
  double tokens_ = 0;  ///< Of the limit of calls.
  std::int64_t tokens_at_ = 0;
};

}  // namespace hostler::fake
