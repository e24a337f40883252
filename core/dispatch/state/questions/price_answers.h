#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/fleet/instance.h"
#include "core/model/policy.h"

namespace hostler::dispatch {

/// What a set has said since the start of the price of a type.
struct PriceAnswer {
  /// The exchange rate of the last answer; unset: there was none, or it could not be converted.
  std::optional<double> rate;
  // While the price is not known.
  Mono since = fleet::kNever;  ///< When it was wanted first; kNever: the set was not asked yet.
  std::string error = {};      ///< Why the last call was refused; empty: none was.
  bool told = false;           ///< An event says that nothing waits for it any more.

  /// The price is known, at the present rate of the set's currency.
  [[nodiscard]] bool is_known(std::optional<double> rate_now) const {
    return rate && rate == rate_now;
  }
};

/// Of which types the sets have said the price. Until then it is a guess: the configured one, or
/// that of another time or rate.
class PriceAnswers {
 public:
  /// Nothing waits longer for the answer of a set that refuses it.
  static constexpr Duration kPatience = std::chrono::minutes(10);
  static bool is_given_up(const PriceAnswer& answer, Mono now) {
    return answer.since != fleet::kNever && now - answer.since >= kPatience;
  }

  /// kNever: it is not waited for, or an event has told so.
  static Mono given_up_at(const PriceAnswer& answer) {
    return answer.told || answer.since == fleet::kNever ? fleet::kNever : answer.since + kPatience;
  }

  explicit PriceAnswers(const model::SitePolicy& policy) : by_set_(policy.sets.size()) {}

  /// From now on the set is asked about exactly these types, by name. Returns those whose price is
  /// not known at this rate.
  std::vector<std::string> keep(std::uint32_t set, const std::vector<std::string>& types,
                                std::optional<double> rate);
  /// No price of the set is known any more.
  void forget(std::uint32_t set) { by_set_.at(set).clear(); }
  /// By type.
  [[nodiscard]] const std::map<std::string, PriceAnswer>& of(std::uint32_t set) const {
    return by_set_.at(set);
  }

  /// The set is asked for the price, or a gate holds the call back.
  void wanted(std::uint32_t set, const std::string& type, std::optional<double> rate, Mono now);
  void refused(std::uint32_t set, const std::string& type, const std::string& error);
  /// The set has said it, or that it has no prices of the type. True: it was not known.
  bool answered(std::uint32_t set, const std::string& type, std::optional<double> rate);
  /// Nobody asks a closed set: the patience begins anew.
  void closed(std::uint32_t set);
  /// The types that are given up now, and that no event has told of. They count as told.
  [[nodiscard]] std::vector<std::string> take_given_up(std::uint32_t set, Mono now);
  /// When the next one is given up.
  [[nodiscard]] Mono next_wake() const;

 private:
  std::vector<std::map<std::string, PriceAnswer>> by_set_;
};

}  // namespace hostler::dispatch
