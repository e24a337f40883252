#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/model/records.h"
#include "core/pricing/history.h"

namespace hostler::pricing {

/// What clouds say that their offerings cost: the newest price of each kind of instance. What it
/// finds new is for the journal; the past beyond that is the store's.
class Book {
 public:
  static constexpr std::size_t kZonesMax = 200;  ///< Of one type; the largest clouds have some 80.

  /// Takes what a cloud said of a type, in any order. Returns what is news, oldest first for each
  /// zone and market: later than what is known, and another price. What begins after `now` is not
  /// in force yet, and will be said again. Zones beyond kZonesMax of a type are passed over.
  std::vector<model::PriceSeen> take(const std::string& set, const std::string& type,
                                     const std::vector<model::ZonePrice>& said, Wall now);
  void restore(const model::PriceSeen& latest);

  /// The price in force; of a type without a zone (the driver chooses) the dearest zone's.
  [[nodiscard]] std::optional<model::Micros> price(const std::string& set, const std::string& type,
                                                   const std::string& zone,
                                                   model::Market market) const;
  /// When the newest of them began: what to ask from.
  [[nodiscard]] std::optional<Wall> newest(const std::string& set, const std::string& type) const;

 private:
  using Key = std::tuple<std::string, std::string, model::Market, std::string>;  // zone last
  [[nodiscard]] std::size_t count(const std::string& set, const std::string& type) const;
  /// The latest prices of a type, over all its markets and zones.
  template <class Visit>
  void each(const std::string& set, const std::string& type, Visit visit) const;

  std::map<Key, model::PricePoint> latest_;
};

}  // namespace hostler::pricing
