#include "core/simulation/load.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/simulation/swf.h"

namespace hostler::simulation {
namespace {

/// Jobs of one part of the load.
class Generated final : public Source {
 public:
  Generated(const Arrivals& arrivals, std::uint64_t seed)
      : arrivals_(arrivals), random_(seed), at_(arrivals.from) {
    if (arrivals.per_hour > 0) at_ += until_next();
  }

  Result<std::optional<Job>> next() override {
    const bool ended = arrivals_.count > 0 ? made_ == arrivals_.count : at_ >= arrivals_.until;
    if (ended) return std::optional<Job>();
    ++made_;
    Job job{.at = at_,
            .user = arrivals_.user,
            .shape = arrivals_.shape,
            .runs = pick(arrivals_.runs, random_),
            .fails = random_.chance(arrivals_.fails),
            .joins = arrivals_.count > 0 && made_ > 1};
    at_ += until_next();
    return std::optional(std::move(job));
  }

 private:
  [[nodiscard]] Duration until_next() {
    if (arrivals_.count > 0) return {};
    if (arrivals_.per_hour <= 0) return arrivals_.every;
    const double hours = -std::log1p(-random_.unit()) / arrivals_.per_hour;
    return std::max<Duration>(
        1us, std::chrono::duration_cast<Duration>(
                 std::chrono::duration<double, std::ratio<3600>>(std::min(hours, 24.0 * 366))));
  }

  const Arrivals arrivals_;
  Random random_;
  Duration at_;
  std::uint64_t made_ = 0;
};

}  // namespace

Duration pick(const Spread& spread, Random& random) {
  constexpr double kLongestMeans = 10;
  if (!spread.samples.empty()) return spread.samples[random.below(spread.samples.size())];
  if (spread.mean > Duration::zero()) {
    const double factor = std::min(kLongestMeans, -std::log1p(-random.unit()));
    return std::max<Duration>(
        1ms,
        Duration(static_cast<Duration::rep>(static_cast<double>(spread.mean.count()) * factor)));
  }
  const auto range = static_cast<std::uint64_t>((spread.most - spread.least).count());
  return spread.least + Duration(static_cast<Duration::rep>(random.below(range + 1)));
}

Result<Load> Load::open(const Scenario& scenario) {
  Load out;
  out.lasts_ = scenario.lasts;
  std::uint64_t number = 0;
  for (const Arrivals& one : scenario.arrivals)
    out.sources_.push_back(
        std::make_unique<Generated>(one, Random(scenario.seed * 1009 + ++number).next()));
  for (const Trace& trace : scenario.traces) out.sources_.push_back(HOSTLER_TRY(open_trace(trace)));
  out.heads_.resize(out.sources_.size());
  for (std::size_t s = 0; s < out.sources_.size(); ++s) HOSTLER_TRY(out.refill(s));
  return out;
}

Result<void> Load::refill(std::size_t source) {
  auto job = HOSTLER_TRY(sources_[source]->next());
  if (!job || job->at >= lasts_) return {};
  order_.push({job->at, source});
  heads_[source] = std::move(*job);
  return {};
}

Result<std::optional<Job>> Load::next() {
  if (order_.empty()) return std::optional<Job>();
  const std::size_t source = order_.top().source;
  order_.pop();
  std::optional<Job> out = std::move(heads_[source]);
  HOSTLER_TRY(refill(source));
  return out;
}

std::uint64_t Load::skipped() const {
  std::uint64_t sum = 0;
  for (const auto& source : sources_) sum += source->skipped();
  return sum;
}

}  // namespace hostler::simulation
