#include "core/cli/eval_cases.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/cli/eval_result.h"
#include "core/json/document.h"
#include "core/json/reader.h"

namespace hostler::cli {
namespace {

constexpr std::size_t kCasesMax = 10'000, kNamesMax = 1000, kTextMax = std::size_t{4} << 20;
constexpr double kValueMax = 1e15;
constexpr std::int64_t kHostsMax = 1'000'000'000;
constexpr std::array kBounds{"min", "max", "created_min", "created_max"};

void read_set(const json::Field& field, GivenNumbers& out) {
  field.members(kNamesMax, [&](std::string_view name, const json::Field& value) {
    std::optional<double>& to = out.by_name[std::string(name)];
    double number = 0;
    if (!value.value()->is(json::Kind::kNull) && value.number(number, -kValueMax, kValueMax))
      to = number;
  });
}

void read_at(const json::Field& field, std::optional<Wall>& out) {
  if (!field.present()) return;
  const auto time = parse_time(field.value()->text());
  if (time)
    out = *time;
  else
    field.problem(time.error().message);
}

void read_expected(json::Object& o, EvalCase& out) {
  for (const char* bound : kBounds) {
    const json::Field field = o.may(bound);
    if (!field.present()) continue;
    std::optional<std::int64_t>& to = out.expected[bound];
    if (field.value()->is(json::Kind::kString) && field.value()->text() == "unknown") continue;
    if (!field.value()->is(json::Kind::kNumber)) {
      field.refuse("a number of hosts, or \"unknown\"");
      continue;
    }
    std::int64_t number = 0;
    if (field.integer(number, 0, kHostsMax)) to = number;
  }
}

std::string shown(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "unknown";
}

}  // namespace

Result<std::vector<EvalCase>> parse_cases(std::string_view text) {
  const auto document =
      HOSTLER_TRY(json::Document::parse(text, {.bytes_max = kTextMax, .comments = true}));
  json::Problems problems;
  std::vector<EvalCase> out;
  json::Field(document.root(), problems).each(kCasesMax, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      EvalCase& one = out.emplace_back();
      one.name = "case " + std::to_string(out.size());
      o.may("name").text(one.name, {.bytes_max = 200, .bytes_min = 1, .one_line = true});
      read_set(o.may("set"), one.given);
      read_at(o.may("at"), one.given.at);
      o.need("expect").object([&](json::Object& expected) { read_expected(expected, one); });
      if (one.expected.empty())
        o.may("expect").problem("it must say something of min, max, created_min or created_max");
    });
  });
  HOSTLER_TRY(problems.result());
  return out;
}

Result<std::vector<std::string>> run_case(const EvalCase& one, const config::Config& config,
                                          std::uint32_t pool) {
  HOSTLER_TRY(check_names(one.given, config.site));
  const auto inputs = simulation::inputs_of(config.site, pool);
  const bool asks_time = std::ranges::any_of(inputs, [](const expression::Input& input) {
    return input.kind == expression::Input::Kind::kHour ||
           input.kind == expression::Input::Kind::kWeekday;
  });
  if (asks_time && !one.given.at)
    return fail(Errc::kInvalidArgument,
                "the bounds depend on the time, so the case needs `at`, such as "
                "\"2026-11-21T10:15:04Z\"");
  const EvalResult result =
      HOSTLER_TRY(evaluate_pool(config, pool, one.given, /*reads=*/false, Wall{}));
  std::vector<std::string> out;
  const auto& bounds = result.evaluation.bounds;
  for (const auto& [key, expected] : one.expected) {
    const auto found = std::ranges::find(bounds, key, &simulation::BoundNow::key);
    if (found == bounds.end())
      out.push_back(key + " is not set in the pool, expected " + shown(expected));
    else if (found->note.number != expected)
      out.push_back(key + " is " + shown(found->note.number) + ", expected " + shown(expected) +
                    (found->note.number ? "" : ": " + found->note.unknown));
  }
  return out;
}

}  // namespace hostler::cli
