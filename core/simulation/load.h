#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/simulation/scenario.h"

namespace hostler::simulation {

/// A job that arrives.
struct Job {
  Duration at{};  ///< Since the start of the simulation.
  std::string user;
  model::WorkShape shape = {};
  Duration runs{};
  bool fails = false;
  bool joins = false;  ///< It is of the same submit as the job before it.
};

/// Jobs in the order of their arrival.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;
  /// nullopt: there are no more. Fails if a trace cannot be read; the error names file and line.
  virtual Result<std::optional<Job>> next() = 0;
  /// Jobs of a trace that ran nowhere, and are left out.
  [[nodiscard]] virtual std::uint64_t skipped() const { return 0; }
};

/// All jobs of a scenario in the order of their arrival. Holds one job of each part of the load in
/// memory.
class Load {
 public:
  [[nodiscard]] static Result<Load> open(const Scenario& scenario);
  /// As Source::next(). No job arrives after the end of the scenario.
  Result<std::optional<Job>> next();
  [[nodiscard]] std::uint64_t skipped() const;

 private:
  struct Head {
    Duration at;
    std::size_t source;
    bool operator>(const Head& other) const {
      return at > other.at || (at == other.at && source > other.source);
    }
  };
  Result<void> refill(std::size_t source);

  Duration lasts_{};
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<Job> heads_;  ///< By source: its next job.
  std::priority_queue<Head, std::vector<Head>, std::greater<>> order_;
};

/// A duration within the spread.
[[nodiscard]] Duration pick(const Spread& spread, Random& random);

}  // namespace hostler::simulation
