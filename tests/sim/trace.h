#pragma once

#include <cstdint>
#include <string>

#include "core/dispatch/events.h"

namespace hostler::sim {

/// One line about an event, for the trace of a day.
std::string describe(const dispatch::Event& event);

/// A hash (FNV-1a) of the lines of a trace: equal traces have equal digests on every machine.
class Digest {
 public:
  void add(const std::string& line);
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14'695'981'039'346'656'037U;
};

}  // namespace hostler::sim
