#pragma once

#include <chrono>
#include <vector>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/model/metric.h"

namespace hostler::sources {

using Samples = std::vector<model::MetricSample>;

/// A reading ends itself at its timeout. After this time more it hangs where nothing ends it.
inline constexpr Duration kGrace = std::chrono::seconds(1);

/// The report of a reading.
inline model::MetricReading to_reading(const model::MetricSource& source, Result<Samples> samples) {
  model::MetricReading out{
      .metric = source.name, .samples = {}, .failure = {}, .source = source_id(source)};
  if (samples)
    out.samples = *std::move(samples);
  else
    out.failure = std::move(samples).error().message;
  return out;
}

/// The reading of a source that hangs.
inline model::MetricReading hangs(const model::MetricSource& source) {
  return to_reading(source, fail(Errc::kUnavailable, "the source did not answer within " +
                                                         format_duration(source.timeout)));
}

}  // namespace hostler::sources
