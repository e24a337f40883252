#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/dispatcher.h"
#include "tests/sim/chance.h"
#include "tests/sim/disk.h"

namespace hostler::sim {

/// On one day in five the pool chooses types of what the cloud offers, and the cloud's answers are
/// often false: half of it, nothing, thousands, everything twice, absurd prices and sizes, names
/// that cannot be shown, types that are there and are not. Checks what the daemon makes of them.
/// Choices of its own, so that all other days are as they were.
class Offerings {
 public:
  static bool is_of(std::uint64_t seed) { return seed % 5 == 3; }

  Offerings(std::uint64_t seed, Chance& chance, const Disk& disk, Disk::Complain complain)
      : chance_(chance), disk_(disk), complain_(std::move(complain)), random_(seed ^ 0x0ffe) {}

  /// The policy of such a day.
  void choose(model::SitePolicy& policy) const;
  [[nodiscard]] dispatch::OfferingsFetched answer(const dispatch::OfferingsCall& call);
  [[nodiscard]] Duration delay();

  /// The daemon has started with what the disk knows.
  void restarted(const dispatch::Queries& queries);
  /// It has taken this answer.
  void taken(const dispatch::OfferingsFetched& answer, const dispatch::Queries& queries);
  /// It decides, maybe to create instances.
  void decided(const dispatch::Outbox& outbox) const;

  /// The least price that any answer had for a type in a zone.
  [[nodiscard]] std::optional<std::int64_t> least_price(const std::string& provider_type,
                                                        model::Market market,
                                                        const std::string& zone) const;

 private:
  using Key = std::tuple<std::string, model::Market, std::string>;
  [[nodiscard]] std::vector<model::CloudOffering> truth();
  void lie(std::vector<model::CloudOffering>& all);
  void check_bought(const model::InstanceRecord& record) const;

  Chance& chance_;
  const Disk& disk_;
  Disk::Complain complain_;
  Random random_;
  std::map<Key, std::int64_t> least_said_;
  std::map<Key, model::Availability> last_said_;  ///< To this daemon.
  std::set<Key> last_, before_;                   ///< In the last good answers to this daemon.
  std::set<Key> priced_;                          ///< It has heard a price.
};

}  // namespace hostler::sim
