#include <optional>
#include <set>
#include <string>

#include "core/base/text.h"
#include "core/sources/inquiry.h"
#include "core/sources/prometheus.h"
#include "tests/fuzz/target.h"

/// What a server answers of a metric: Prometheus, or any that speaks JSON.
///
/// The input's first bytes are the kind of the source, how samples are picked, whether there is a
/// label and a question for the age, and the two statuses. Then comes the first answer, and after a
/// NUL the second.
namespace hostler::fuzz {
namespace {

using sources::Samples;

model::MetricSource source_of(Bytes& in) {
  model::MetricSource source;
  source.kind = (in.byte() & 1U) != 0 ? model::MetricSource::Kind::kHttp
                                      : model::MetricSource::Kind::kPrometheus;
  source.pick = model::Pick{static_cast<std::uint8_t>(in.byte() % 5U)};
  const std::uint8_t flags = in.byte();
  source.url = "http://p";
  source.query = "q";
  if ((flags & 1U) != 0) source.by = "pool";
  source.asks_age = (flags & 2U) != 0;
  if ((flags & 4U) != 0) source.pointer = "/a/0";
  return source;
}

void check_failure(const std::string& text) {
  promise(!text.empty() && text.size() <= 1024, "a failure is a short text", text);
  promise(is_utf8(text) && text == printable(text, 1024), "it is one printable line", text);
}

void check(const model::MetricSource& source, const Samples& samples, Wall now) {
  promise(!samples.empty() && samples.size() <= sources::kSamplesMax, "samples are bounded");
  const bool has_keys = source.kind == model::MetricSource::Kind::kPrometheus && !source.by.empty();
  promise(has_keys || samples.size() == 1, "a metric without a label is one number");
  std::set<std::string> keys;
  for (const model::MetricSample& sample : samples) {
    promise(sample.key.empty() != has_keys && sample.key.size() <= 255, "keys are those of labels");
    promise(keys.insert(sample.key).second, "no key comes twice", sample.key);
    promise(sample.taken <= now, "no sample is of the future");
  }
}

void run(Bytes& in) {
  const model::MetricSource source = source_of(in);
  const Wall now{2'000'000'000'000'000};
  sources::HttpAnswer first{in.byte() % 2 == 0 ? 200 : 400, ""}, second{first.status, ""};
  const std::string text(in.rest());
  first.body = text.substr(0, text.find('\0'));
  if (first.body.size() < text.size()) second.body = text.substr(first.body.size() + 1);
  sources::Inquiry inquiry(source, std::nullopt, now);
  auto taken = inquiry.take(first);
  if (taken && !*taken) taken = inquiry.take(second);
  if (!taken) return check_failure(taken.error().message);
  promise(taken->has_value(), "after two answers there is nothing more to ask");
  check(source, **taken, now);
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hostler::fuzz::Bytes in(data, size);
  hostler::fuzz::run(in);
  return 0;
}
