#pragma once

#include <map>
#include <string>

#include "core/base/time.h"
#include "core/fleet/instance.h"
#include "core/model/policy.h"

namespace hostler::dispatch {

/// The quota groups of one set's types, which its driver is asked for: once for each type, and
/// again only if the type changes.
class QuotaGroups {
 public:
  /// The next calls are to be made, if the set is open.
  [[nodiscard]] Mono next() const { return at_; }
  /// The group of exactly this type. Empty: none, or not known yet.
  [[nodiscard]] const std::string& of(const model::InstanceType& type) const;
  /// An answer for this type is known, or is awaited.
  [[nodiscard]] bool knows(const std::string& type) const { return by_type_.contains(type); }

  void opened(Mono now) { at_ = now; }
  /// Another driver may know what the one before did not.
  void driver_replaced();
  /// There may be new types.
  void types_changed(Mono now);
  /// What was held back is asked now.
  void retry(Mono now);
  /// Calls are made later.
  void hold_back(Mono until) { at_ = until; }
  /// All calls that are due are made now.
  void begin() { at_ = fleet::kNever; }
  /// Forgets the types for which `is_still` is false of the type as it was asked about.
  template <class Predicate>
  void keep(Predicate is_still) {
    std::erase_if(by_type_, [&](const auto& one) { return !is_still(one.second.asked_about); });
  }
  void asked(const model::InstanceType& type);
  /// The answer to the call for this type is still wanted.
  [[nodiscard]] bool wants(const model::InstanceType& type) const;
  void set(const model::InstanceType& type, const std::string& group);
  /// The driver has none.
  void unsupported() { supported_ = false; }
  /// The driver could not answer: it is asked again then.
  void ask_again(const model::InstanceType& type, Mono at);

 private:
  struct Asked {
    model::InstanceType asked_about;
    std::string group;  ///< The answer; empty: none, or no answer yet.
  };

  bool supported_ = true;  ///< False: the driver has said that it has none.
  Mono at_ = fleet::kNever;
  std::map<std::string, Asked> by_type_;  ///< By the name of the type.
};

}  // namespace hostler::dispatch
