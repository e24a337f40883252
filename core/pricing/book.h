#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/model/records.h"
#include "core/pricing/history.h"

namespace hostler::pricing {

/// The price book: the newest price that the clouds have reported for each offering. Older prices
/// are in the store only. Pure.
class Book {
 public:
  /// For one type. The largest clouds have about 80.
  static constexpr std::size_t kZonesMax = 200;

  /// Adds the prices that a cloud has reported for a type, in any order. Returns the price changes
  /// that are new and have to be journalled, oldest first for each zone and market. Prices that
  /// begin after `now` are ignored: the cloud will report them again. Zones beyond kZonesMax are
  /// ignored.
  std::vector<model::PriceRow> take(const std::string& set, const std::string& type,
                                    const std::vector<model::ZonePrice>& reported, Wall now);
  /// Sets the newest price of an offering from the journal, at start.
  void restore(const model::PriceRow& latest);

  /// The current price; nullopt if unknown. If `zone` is empty, because the driver chooses the
  /// zone, the price of the most expensive zone.
  [[nodiscard]] std::optional<model::Micros> price(const std::string& set, const std::string& type,
                                                   const std::string& zone,
                                                   model::Market market) const;
  /// When the newest known price of the type began: ask the cloud for prices from then on.
  [[nodiscard]] std::optional<Wall> newest(const std::string& set, const std::string& type) const;

 private:
  using Key = std::tuple<std::string, std::string, model::Market, std::string>;  // zone last
  [[nodiscard]] std::size_t count(const std::string& set, const std::string& type) const;
  /// Visits the newest prices of a type in all markets and zones.
  template <class Visit>
  void each(const std::string& set, const std::string& type, Visit visit) const;

  std::map<Key, model::PricePoint> latest_;
};

}  // namespace hostler::pricing
