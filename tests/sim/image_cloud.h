#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/effects.h"
#include "core/dispatch/events.h"
#include "core/model/policy.h"
#include "core/model/views.h"
#include "tests/sim/day.h"

namespace hostler::sim {

/// The images of a cloud whose site names its image by a query, on one day in six: newer ones
/// appear, and while there are faults answers are late, refused, empty, doubled, without the
/// newest, or with images of another architecture. Its choices are apart from all others, so that
/// days without it are as they were.
///
/// Checks that the daemon uses the newest image of the last answer that had one, also after a
/// restart, and makes each new instance of that.
class ImageCloud {
 public:
  using Complain = std::function<void(const std::string&)>;
  using Reply = std::function<void(Duration, dispatch::Event)>;

  ImageCloud(std::uint64_t seed, Complain complain) : complain_(complain), random_(seed ^ 0x1347) {}
  static bool is_of(std::uint64_t seed) { return seed % 13 == 9 || seed % 13 == 12; }

  /// Puts the query into the set, a type or the pool.
  void name_image(model::SitePolicy& policy);
  void find(const dispatch::ImagesCall& call, bool faults, Mono now, const Reply& reply);

  /// The daemon gets the answer.
  void heard(const dispatch::ImagesFetched& answer);
  /// What the daemon shows, and the creates that it has decided on.
  void check(const model::SetView& set, const dispatch::Outbox& outbox) const;
  /// All that the daemon has heard is durable.
  void committed() { durable_ = known_; }
  /// A daemon starts, which knows what was durable.
  void daemon_started() { known_ = durable_; }
  /// An older copy of the disk was put back, with these rows.
  void put_back(const std::vector<model::ImageRow>& rows);

 private:
  std::vector<model::Image> lie(std::vector<model::Image> images);

  const Complain complain_;
  Random random_;
  std::string known_, durable_;  ///< Ids; empty: none.
};

}  // namespace hostler::sim
