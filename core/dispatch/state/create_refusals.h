#pragma once

#include <optional>
#include <string>

#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/questions/images.h"
#include "core/dispatch/state/questions/offered_types.h"
#include "core/dispatch/state/questions/price_answers.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Why an offering cannot be bought now, whoever wants it and however much the ceilings allow.
class CreateRefusals {
 public:
  CreateRefusals(const model::SitePolicy& policy, const Sets& sets, const Images& images,
                 const OfferedTypes& offered, const PriceAnswers& prices, const CallGates& gates)
      : policy_(policy),
        sets_(sets),
        images_(images),
        offered_(offered),
        prices_(prices),
        gates_(gates) {}

  struct Refusal {
    std::string text;                   ///< One sentence for people; never empty.
    const gates::Gate* gate = nullptr;  ///< The gate that refuses, until it changes; null: none.
    bool awaits_price = false;          ///< Its cloud is asked what it costs, and has not refused.
  };
  /// The first that there is: of the set, the pool, the market, the image, the price, the cloud's
  /// stock and the gates; nullopt: it can be bought.
  [[nodiscard]] std::optional<Refusal> refuses(const scheduler::Offering& offering, Now now) const;
  /// The cloud says that it has none now, whatever else refuses it.
  [[nodiscard]] bool is_unavailable(const scheduler::Offering& offering) const {
    return offered_.is_unavailable(policy_.types[offering.type], offering.zone);
  }

 private:
  /// A price limit applies, and the cloud has not said yet what the offering costs.
  [[nodiscard]] std::optional<Refusal> refuses_price(const scheduler::Offering& offering,
                                                     Now now) const;

  const model::SitePolicy& policy_;
  const Sets& sets_;
  const Images& images_;
  const OfferedTypes& offered_;
  const PriceAnswers& prices_;
  const CallGates& gates_;
};

}  // namespace hostler::dispatch
