#pragma once

#include <array>
#include <optional>
#include <utility>

#include "core/base/assert.h"
#include "core/gates/gates.h"

namespace hostler::dispatch {

/// The driver calls of one host that are under way, one of each kind, each with the query that its
/// gates were asked: the record may have changed when the answer comes. A restart forgets them.
class HostCalls {
 public:
  void create_sent(const gates::GateQuery& query, Mono now) {
    begin(create_, query);
    create_sent_at_ = now;
  }
  void destroy_sent(const gates::GateQuery& query) { begin(destroy_, query); }
  /// To start or stop it.
  void power_sent(const gates::GateQuery& query) { begin(power_, query); }
  /// The call has ended. Unset: none was under way.
  [[nodiscard]] std::optional<gates::GateQuery> end_create() { return std::exchange(create_, {}); }
  [[nodiscard]] std::optional<gates::GateQuery> end_destroy() {
    return std::exchange(destroy_, {});
  }
  [[nodiscard]] std::optional<gates::GateQuery> end_power() { return std::exchange(power_, {}); }

  /// The rate of creates has room then for the create that finishes it. Unset: none is reserved.
  void reserve_create(std::optional<Mono> at) { create_reserved_ = at; }

  [[nodiscard]] bool creates() const { return create_.has_value(); }
  [[nodiscard]] bool destroys() const { return destroy_.has_value(); }
  [[nodiscard]] bool switches() const { return power_.has_value(); }
  [[nodiscard]] bool any() const { return create_ || destroy_ || power_; }
  [[nodiscard]] std::array<std::optional<gates::GateQuery>, 3> all() const {
    return {create_, destroy_, power_};
  }
  /// When the last create was sent: its record may be as old, however late it comes.
  [[nodiscard]] Mono create_sent_at() const { return create_sent_at_; }
  [[nodiscard]] const std::optional<Mono>& create_reserved() const { return create_reserved_; }

 private:
  static void begin(std::optional<gates::GateQuery>& call, const gates::GateQuery& query) {
    HOSTLER_ASSERT(!call, "one call of a kind is under way for a host");
    call = query;
  }

  std::optional<gates::GateQuery> create_, destroy_, power_;
  Mono create_sent_at_{};
  std::optional<Mono> create_reserved_;
};

}  // namespace hostler::dispatch
