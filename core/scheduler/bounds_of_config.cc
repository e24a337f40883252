#include <algorithm>

#include "core/scheduler/bounds.h"

namespace hostler::scheduler {
namespace {

bool has_push(std::span<const Bound> others) {
  return std::ranges::any_of(others,
                             [](const Bound& bound) { return bound.source == kPushedSource; });
}

bool is_evaluated(BoundOf of, std::span<const Bound> others) {
  return std::ranges::any_of(others, [&](const Bound& bound) {
    return bound.of == of && bound.source == kExpressionSource;
  });
}

}  // namespace

ConfigBounds bounds_of_config(const model::PoolPolicy& pool, std::span<const Bound> others) {
  using enum BoundOf;
  const model::PoolSizes& sizes = pool.sizes;
  const model::BoundTexts& texts = sizes.texts;
  ConfigBounds out;
  out.has_texts = texts.any();
  const auto says = [&](BoundOf of, std::optional<std::int64_t> number) {
    if (number)
      out.bounds[out.count++] = {
          .of = of, .source = kConfigSource, .number = number, .reason = {}, .until = {}};
  };
  const auto says_or = [&](BoundOf of, std::optional<std::int64_t> number,
                           const std::string& text) {
    if (text.empty()) return says(of, number);
    if (is_evaluated(of, others)) return;
    // Else a plan would run as if there were no bound.
    out.bounds[out.count++] = {.of = of,
                               .source = kExpressionSource,
                               .number = {},
                               .reason = "it was not evaluated",
                               .until = {}};
  };
  says_or(kStartedMin, sizes.min, texts.min);
  says_or(kStartedMax, sizes.max, texts.max);
  says_or(kCreatedMin, sizes.created_min, texts.created_min);
  says_or(kCreatedMax, sizes.created_max, texts.created_max);
  says(kStandby, sizes.standby);
  says(kStopped, sizes.stopped);
  if (pool.pushed && !has_push(others))
    for (const BoundOf of : {kStartedMin, kStartedMax})
      out.bounds[out.count++] = {.of = of,
                                 .source = kPushedSource,
                                 .number = {},
                                 .reason = "no push since the start",
                                 .until = {}};
  return out;
}

}  // namespace hostler::scheduler
