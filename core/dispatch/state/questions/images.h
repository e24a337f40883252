#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/cloud_records.h"
#include "core/model/policy.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// What a query has found in the cloud of a set.
struct FoundImage {
  /// The newest of the last answer that had any: later answers without one do not replace it.
  std::optional<model::Image> image;
  Wall found, stored;  ///< When an answer last had it; the same as it is in the journal.
  std::string error;   ///< Why the last answer had none; empty: it had one, or none came yet.
};

/// The images that creates are made of, where the configuration names them by a query.
class Images {
 public:
  using Queries = std::map<model::ImageQuery, FoundImage>;

  /// `policy` outlives it.
  explicit Images(const model::SitePolicy& policy);

  /// The rows of the journal. Returns those of queries that the policy does not have.
  [[nodiscard]] std::vector<model::ImageForgotten> restore(const std::vector<model::ImageRow>& rows,
                                                           Now now);
  /// The policy has changed. Returns the rows of queries that it no longer has, which are
  /// forgotten.
  [[nodiscard]] std::vector<model::ImageForgotten> reload();
  /// The set is in another account: what was found before is not there.
  [[nodiscard]] std::vector<model::ImageForgotten> forget(std::uint32_t set);

  /// The queries of a set.
  [[nodiscard]] Queries& of(std::uint32_t set) { return by_set_.at(set); }
  [[nodiscard]] const Queries& of(std::uint32_t set) const { return by_set_.at(set); }

  /// The image that such a create is made of now: as configured, or as its query has found it.
  /// Empty: the driver's choice, or none was found yet.
  [[nodiscard]] const std::string& id_for(std::uint32_t set, std::uint32_t pool,
                                          std::uint32_t type) const;
  /// Why nothing like this is created: its query has found no image. One sentence for people;
  /// empty: it may be.
  [[nodiscard]] std::string refuses(std::uint32_t set, std::uint32_t pool,
                                    std::uint32_t type) const;

 private:
  [[nodiscard]] const FoundImage* find(const std::optional<model::ImageQuery>& query,
                                       std::uint32_t set) const;
  [[nodiscard]] std::vector<Queries> wanted() const;

  const model::SitePolicy& policy_;
  std::vector<Queries> by_set_;  ///< By index into SitePolicy::sets.
};

}  // namespace hostler::dispatch
