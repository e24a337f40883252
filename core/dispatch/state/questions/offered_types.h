#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/fleet/instance.h"
#include "core/model/policy.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// The types that the clouds of sets offer. Only sets of pools that choose types by their
/// properties are asked.
///
/// A good answer replaces what was known, with two exceptions, because an answer may be false: what
/// one answer omits stays, and leaves when the next good answer omits it too; and an answer without
/// any offering is none where some were known.
class OfferedTypes {
 public:
  /// A provider type in a market counts as one type.
  static constexpr std::size_t kTypesMax = 2'000, kZonesMax = 100, kRecordsMax = 200'000;
  /// So long, since it is asked, a set is expected to say soon what it offers.
  static constexpr Duration kAwaitedFor = std::chrono::minutes(15);

  using Key =
      std::tuple<std::string, model::Market, std::string>;  ///< Provider type, market, zone.
  struct Known {
    model::OfferedRow row;
    bool omitted = false;  ///< By the last good answer.
  };
  struct OfSet {
    std::map<Key, Known> rows;
    std::optional<Mono> awaited_until;  ///< Unset: it was never asked.
    std::string problem;                ///< Of the last answer; empty: it was good.
    std::string ignored;                ///< What of the last good answer was not used, and why.
    Wall fetched;                       ///< The last good answer; 0: none since the start.
  };

  /// Where an answer is from.
  struct Source {
    std::string set;
    std::string region, currency;  ///< Empty: not known.
  };
  struct Taken {
    std::vector<model::Change> changes;   ///< For the journal.
    std::vector<std::string> came, left;  ///< Provider types.
    bool is_doubted = false;              ///< It is empty, and nothing of it was used.
    bool omits = false;                   ///< It omits something that stays for now.
  };
  /// A new type has no name before settle_names().
  /// `in_use`: types that hosts have. They stay when answers omit them, and count as not available.
  Taken take(const Source& from, const std::vector<model::CloudOffering>& answer,
             const std::set<std::string>& in_use, Wall now);

  /// Rows of the journal. Returns those of sets that are not in the policy, which are left out.
  [[nodiscard]] std::vector<model::OfferedGone> restore(const std::vector<model::OfferedRow>& rows,
                                                        const model::SitePolicy& policy);
  struct Settled {
    std::vector<model::OfferedRow> rows;  ///< With new names, for the journal.
    /// Types that had a name which the configuration gives to another type now: by set and former
    /// name, the new one.
    std::map<std::pair<std::string, std::string>, std::string> renamed;
  };
  /// Gives each type a name that no type of the configuration has. It keeps the name unless the
  /// configuration takes it.
  [[nodiscard]] Settled settle_names(const model::SitePolicy& configured);
  /// The policy has changed: other sets may be asked.
  void reload(const model::SitePolicy& policy, Mono now);

  /// The sets that are asked, by index into SitePolicy::sets.
  [[nodiscard]] const std::set<std::uint32_t>& asked() const { return asked_; }
  [[nodiscard]] OfSet& of(const std::string& set) { return sets_[set]; }
  [[nodiscard]] const OfSet* find(const std::string& set) const;
  /// The set has never said what it offers.
  [[nodiscard]] bool is_unknown(const std::string& set) const;
  /// It has not, and is expected to do so soon.
  [[nodiscard]] bool is_awaited(const std::string& set, Mono now) const;
  /// The cloud has none of this type, which is of a set, in this zone now.
  [[nodiscard]] bool is_unavailable(const model::InstanceType& type, const std::string& zone) const;
  [[nodiscard]] std::size_t count_types(const std::string& set) const;

 private:
  std::map<std::string, OfSet> sets_;  ///< By name.
  std::set<std::uint32_t> asked_;
};

}  // namespace hostler::dispatch
