#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/state/questions/offered_types.h"

/// What of a cloud's answer can be used: each answer may be false, and of any size.
namespace hostler::dispatch {

using OfferedTypeKey = std::pair<std::string, model::Market>;
[[nodiscard]] OfferedTypeKey type_key_of(const OfferedTypes::Key& key);

/// The part of an answer that can be used, and why the rest cannot.
struct Intake {
  std::map<OfferedTypes::Key, const model::CloudOffering*> good;
  std::map<std::string, std::size_t> flaws;

  /// "3 ignored: it is there twice"
  [[nodiscard]] std::string text() const;
};

/// `region`: of the set; empty: not known. What is known already has room before what is new.
/// Valid as long as `answer`.
[[nodiscard]] Intake take_in(const std::string& region, const OfferedTypes::OfSet& known,
                             const std::vector<model::CloudOffering>& answer);

/// The row with what is said of it now; what the answer does not say stays as it was known.
[[nodiscard]] model::OfferedRow merged_row(model::OfferedRow row, const model::CloudOffering& said,
                                           const std::string& currency);

}  // namespace hostler::dispatch
