#pragma once

#include <cstdint>
#include <string>

#include "cloud.h"
#include "fake/chance.h"

namespace hostler::erratic {

struct Settings {
  std::string folder;
  std::uint64_t seed = 1;
  double deaths = 0, hangs = 0;  ///< Chances of each create, destroy and list.
};

/// What becomes of one call. Made when it begins.
class Fate {
 public:
  /// `function` is "create", "destroy" or "list", `name` what it is about.
  Fate(const Settings& settings, Cloud& cloud, std::string function, std::string name);

  /// The call has come to this moment: "before" its effect, "after" it, or "emitted". Does not
  /// return if the call dies or hangs for ever here.
  void at(const std::string& moment) {
    announce(moment);
    strike(moment);
  }
  /// The two halves of at(): to the cloud's file, and what happens then.
  void announce(const std::string& moment);
  void strike(const std::string& moment) const;

 private:
  [[nodiscard]] bool is_of(const std::string& moment) const;
  [[noreturn]] static void die(const std::string& how);

  Cloud& cloud_;
  const std::string function_, name_;
  std::string what_, how_, moment_;  ///< "died", "segv", "before"; `what_` empty: all goes well.
  std::int64_t pause_ms_ = 0;
};

}  // namespace hostler::erratic
