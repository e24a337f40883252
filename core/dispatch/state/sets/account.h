#pragma once

#include <optional>
#include <string>

#include "core/base/time.h"
#include "core/model/cloud.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// The account and region of a set's instances, as far as they are known, and what the cloud
/// reports. A set is used only while both agree, or after an admin has accepted the reported one.
class Account {
 public:
  void restore(model::SetAccount stored) { stored_ = std::move(stored); }
  /// The row cannot be read: only an admin can say which account it is.
  void restore_damaged() { damaged_ = true; }

  /// The reported account is the stored one, as far as both are known.
  [[nodiscard]] bool agrees(const model::SetInfo& reported) const;
  /// The set, which is `name`, is used in this account. True: the stored one has changed.
  bool use(const std::string& name, const model::SetInfo& reported, Mono now);
  /// The set is closed while the cloud reports this account. True: it did not report it before.
  bool refuse(model::SetInfo reported);
  /// An admin accepts what is unaccepted(): the caller uses it now.
  [[nodiscard]] model::SetInfo accept();

  [[nodiscard]] const model::SetAccount& stored() const { return stored_; }
  [[nodiscard]] bool is_damaged() const { return damaged_; }
  /// What the cloud reports, while it is refused.
  [[nodiscard]] const std::optional<model::SetInfo>& unaccepted() const { return unaccepted_; }
  /// An answer to a call sent before may be that of an account that was not accepted.
  [[nodiscard]] Mono answers_from() const { return answers_from_; }

 private:
  model::SetAccount stored_;
  bool damaged_ = false;
  std::optional<model::SetInfo> unaccepted_;
  Mono answers_from_ = Mono::min();
};

}  // namespace hostler::dispatch
