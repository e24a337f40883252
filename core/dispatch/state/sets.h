#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/fleet/instance.h"
#include "core/model/cloud.h"
#include "core/model/policy.h"

namespace hostler::dispatch {

/// One instance set: the state of its connection to a cloud, and the time of its next calls.
struct Set {
  std::string name;
  bool open = false, opening = false, listing = false;
  bool foreign = false;  ///< It holds instances of another owner: nothing is created in it.
  model::SetInfo info;
  Mono list_at = fleet::kNever, open_at = fleet::kNever, prices_at = fleet::kNever;
  Mono list_sent{};         ///< The last one.
  std::int64_t listed = 0;  ///< Instances in the last list, ours or not.
  std::uint32_t failures = 0;
  std::string problem;

  /// A list is wanted at `at`. It is sent then or later: the driver asks for a pause between two
  /// lists, and a large set gets a longer one.
  void want_list(const model::SetPolicy& policy, Mono at);
  /// When something is to be done for it next.
  [[nodiscard]] Mono next_wake() const;
};

/// The sets of the site, by index into SitePolicy::sets.
class Sets {
 public:
  explicit Sets(const model::SitePolicy& policy);

  [[nodiscard]] Set& at(std::uint32_t index) { return sets_.at(index); }
  [[nodiscard]] const Set& at(std::uint32_t index) const { return sets_.at(index); }
  [[nodiscard]] std::optional<std::uint32_t> index_of(const std::string& name) const;
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(sets_.size()); }
  [[nodiscard]] const std::vector<Set>& all() const { return sets_; }
  [[nodiscard]] Mono next_wake() const;

  /// Instances like this one can be switched off and on, as far as the cloud says.
  [[nodiscard]] bool has_power(std::uint32_t set, model::Market market) const;

 private:
  std::vector<Set> sets_;
};

}  // namespace hostler::dispatch
