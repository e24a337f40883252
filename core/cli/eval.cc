#include <algorithm>
#include <cstdio>

#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/eval_cases.h"
#include "core/cli/eval_result.h"
#include "core/config/load.h"

/// `hostler eval`. It needs no daemon and no cloud.
namespace hostler::cli {
namespace {

constexpr const char* kUsualConfig = "/etc/hostler/hostler.json";
constexpr std::size_t kCasesFileMax = std::size_t{4} << 20;

/// The secrets that it names are not read here; tokens are, by the sources.
Result<config::Config> load(const std::string& file) {
  config::LoadOptions options;
  options.trusted_only = false;
  options.read_files = false;
  return config::load(file, options);
}

/// Without a configuration an expression knows the names that are given.
config::Config config_of(const GivenNumbers& given) {
  config::Config out;
  for (const auto& [name, value] : given.by_name) {
    if (is_count(name)) continue;
    out.site.metrics.emplace_back().name = name;
    out.metric_sources.emplace_back().name = name;
  }
  return out;
}

Result<GivenNumbers> given_by(const EvalOptions& options) {
  GivenNumbers out;
  for (const std::string& word : options.set) HOSTLER_TRY(add_number(word, out));
  if (!options.at.empty()) out.at = HOSTLER_TRY(parse_time(options.at));
  return out;
}

Result<std::uint32_t> find_pool(const config::Config& config, const std::string& name) {
  const auto& pools = config.site.pools;
  const auto found = std::ranges::find(pools, name, &model::PoolPolicy::name);
  if (found == pools.end())
    return fail(Errc::kNotFound, "the configuration has no pool '" + printable(name, 63) + "'");
  return static_cast<std::uint32_t>(found - pools.begin());
}

Result<EvalResult> evaluate(const EvalOptions& options, const config::Config& config,
                            const GivenNumbers& given) {
  HOSTLER_TRY(check_names(given, config.site));
  const Wall now = read_clocks().wall;
  if (!options.expr.empty()) return evaluate_text(config, options.expr, given, /*reads=*/true, now);
  const auto pool = HOSTLER_TRY(find_pool(config, options.pool));
  return evaluate_pool(config, pool, given, /*reads=*/true, now);
}

/// Returns how many cases are as expected, and of how many.
Result<std::pair<std::size_t, std::size_t>> run_cases(const EvalOptions& options,
                                                      const config::Config& config) {
  const auto pool = HOSTLER_TRY(find_pool(config, options.pool));
  const std::string text = HOSTLER_TRY(read_file(options.test, kCasesFileMax));
  auto cases = parse_cases(text);
  if (!cases) return tl::unexpected(std::move(cases.error()).with_context(options.test));
  std::size_t good = 0;
  for (const EvalCase& one : *cases) {
    auto problems = run_case(one, config, pool);
    if (!problems)
      return tl::unexpected(
          std::move(problems.error()).with_context(options.test + ": " + one.name));
    for (const std::string& problem : *problems) say(one.name + ": " + problem);
    good += problems->empty() ? 1 : 0;
  }
  return std::pair(good, cases->size());
}

/// The lines of an error about an expression have a caret, so each is one of its own.
int complain_of_lines(const Error& error) {
  const auto lines = split(error.message, '\n');
  if (lines.size() < 2) return complain(error);
  warn(lines[0]);
  for (std::size_t i = 1; i < lines.size(); ++i)
    std::fprintf(stderr, "%s\n", printable(lines[i], 10'000).c_str());
  return exit_code::kUsage;
}

}  // namespace

int eval(const EvalOptions& options) {
  const auto given = given_by(options);
  if (!given) return complain(given.error());
  const bool is_alone = !options.expr.empty() && options.config.empty();
  const auto config = is_alone ? Result<config::Config>(config_of(*given))
                               : load(options.config.empty() ? kUsualConfig : options.config);
  if (!config) return complain(config.error());
  if (!options.test.empty()) {
    const auto counts = run_cases(options, *config);
    if (!counts) return complain(counts.error());
    say(std::to_string(counts->first) + " of " + std::to_string(counts->second) +
        " cases are as expected");
    return counts->first == counts->second ? exit_code::kOk : exit_code::kFailed;
  }
  const auto result = evaluate(options, *config, *given);
  if (!result) return complain_of_lines(result.error());
  std::fputs((options.json ? eval_json(*result) + "\n" : eval_text(*result)).c_str(), stdout);
  return result->is_known() ? exit_code::kOk : exit_code::kFailed;
}

}  // namespace hostler::cli
