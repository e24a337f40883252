#include "core/sources/read_once.h"

#include <chrono>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/sources/http_readings.h"
#include "core/sources/local_readings.h"
#include "core/sources/reading.h"

namespace hostler::sources {
namespace {

using Kind = model::MetricSource::Kind;

model::MetricReading read_http(const model::MetricSource& source, std::optional<Wall> at) {
  HttpReadings readings;
  readings.start(1, source, at);
  for (;;)
    if (auto ended = readings.wait(source.timeout); !ended.empty())
      return std::move(ended.front().reading);
}

model::MetricReading read_local(const model::MetricSource& source) {
  const auto read = std::make_shared<std::promise<model::MetricReading>>();
  auto result = read->get_future();
  LocalReadings readings(
      [read](ReadingId, model::MetricReading reading) { read->set_value(std::move(reading)); });
  readings.start(1, source);
  if (result.wait_for(source.timeout + kGrace) == std::future_status::ready) return result.get();
  return hangs(source);
}

}  // namespace

model::MetricReading read_once(const model::MetricSource& source, std::optional<Wall> at) {
  if (source.kind == Kind::kHostler)
    return to_reading(source, fail(Errc::kInvalidArgument, "only hostlerd knows its own counts"));
  if (at && source.kind != Kind::kPrometheus)
    return to_reading(
        source, fail(Errc::kInvalidArgument, "its source knows no past; only prometheus does"));
  const bool is_http = source.kind == Kind::kPrometheus || source.kind == Kind::kHttp;
  return is_http ? read_http(source, at) : read_local(source);
}

}  // namespace hostler::sources
