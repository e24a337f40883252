#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/config/readers.h"

namespace hostler::config {
namespace {

constexpr std::size_t kPatternsMax = 100, kPatternBytesMax = 200;
constexpr std::int64_t kRangeCountMax = 1 << 20, kRangeBytesMax = std::int64_t{1} << 50;

/// The word of an unset market: both.
constexpr std::array kMarketChoices{
    json::Word<std::optional<model::Market>>{"on_demand", model::Market::kOnDemand},
    json::Word<std::optional<model::Market>>{"spot", model::Market::kSpot},
    json::Word<std::optional<model::Market>>{"any", std::nullopt},
};

std::optional<std::int64_t> count_of(std::string_view text) {
  const auto number = parse_u64(text);
  if (!number || *number > static_cast<std::uint64_t>(kRangeCountMax)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<std::int64_t> size_of(std::string_view text) {
  const auto size = parse_size(text);
  if (!size || *size < 0 || *size > kRangeBytesMax) return std::nullopt;
  return *size;
}

using ParseOne = std::optional<std::int64_t> (*)(std::string_view);

/// "4-64", ">=4", "<=64", "4". Nothing: the text has another form.
std::optional<model::Bounds> parse_bounds(std::string_view text, ParseOne parse) {
  model::Bounds out;
  if (text.starts_with(">=") || text.starts_with("<=")) {
    const auto bound = parse(text.substr(2));
    if (!bound) return std::nullopt;
    (text.front() == '>' ? out.low : out.high) = *bound;
    return out;
  }
  const auto dash = text.find('-');
  const auto low = parse(text.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : parse(text.substr(dash + 1));
  if (!low || !high) return std::nullopt;
  return model::Bounds{*low, *high};
}

void read_bounds(const json::Field& field, ParseOne parse, const char* one, model::Bounds& out) {
  std::string text;
  if (!field.text(text, {.bytes_max = 100, .one_line = true})) return;
  const auto bounds = parse_bounds(text, parse);
  const std::string n(one);
  if (!bounds)
    field.refuse("\"" + n + "\", \">=" + n + "\", \"<=" + n + "\" or two values: \"" + n + "-" + n +
                 "\"");
  else if (bounds->low > bounds->high)
    field.problem("found \"" + printable(text, 100) + "\", where the first is above the second");
  else
    out = *bounds;
}

/// Bounds of all gpus, or an object that some equal ones have to meet.
void read_gpus(const json::Field& field, model::GpuSelector& out) {
  if (!field.present() || !field.value()->is(json::Kind::kObject))
    return read_bounds(field, count_of, "1", out.count);
  field.object([&](json::Object& o) {
    read_bounds(o.may("count"), count_of, "1", out.count);
    const json::Field kind = o.may("kind");
    if (kind.text(out.kind, {.bytes_max = 200, .one_line = true}) && !model::is_gpu_kind(out.kind))
      kind.refuse("the kind of a gpu, such as \"a100\": 1 to 63 characters of a-z 0-9 . _ -");
    const json::Field memory = o.may("memory");
    if (memory.present()) read_bounds(memory, size_of, "40GiB", out.memory.emplace());
  });
}

void read_patterns(const json::Field& field, std::vector<std::string>& out) {
  field.texts(out, kPatternsMax, {.bytes_max = kPatternBytesMax, .bytes_min = 1, .one_line = true});
}

}  // namespace

void read_selector(const json::Field& field, model::TypeSelector& out) {
  field.object([&](json::Object& o) {
    read_bounds(o.may("vcpus"), count_of, "4", out.vcpus);
    read_gpus(o.may("gpus"), out.gpus);
    read_bounds(o.may("ram"), size_of, "8GiB", out.ram);
    read_bounds(o.may("scratch"), size_of, "100GiB", out.scratch);
    read_bounds(o.may("ram_per_vcpu"), size_of, "2GiB", out.ram_per_vcpu);
    o.may("architecture")
        .text(out.architecture, {.bytes_max = 63, .bytes_min = 1, .one_line = true});
    read_patterns(o.may("names"), out.names);
    read_patterns(o.may("not_names"), out.not_names);
    o.may("market").word(out.market, kMarketChoices);
    model::Micros most;
    if (o.may("price_max").millionths(most.value, 1, kPriceMax)) out.price_max = most;
  });
}

}  // namespace hostler::config
