#include <string>

#include "core/base/text.h"
#include "core/config/diff.h"
#include "core/config/load.h"
#include "tests/fuzz/target.h"

/// A config file. Keys and tokens that it names are not read.
namespace hostler::fuzz {
namespace {

config::Reading read(std::string_view text) {
  config::LoadOptions options;
  options.surroundings = {.is_root = true};
  options.read_files = false;
  return config::read_text(text, "/etc/hostler", options);
}

/// "... (at 12:5)": where in the file, beside what; only a file that is too long has no place.
bool names_a_place(const Error& problem) {
  return problem.code == Errc::kTooLarge || problem.message.find("at ") != std::string::npos;
}

void check_problem(const Error& problem) {
  promise(names_a_place(problem), "a problem names its place", problem.message);
  promise(problem.path.empty() || problem.message.starts_with(problem.path),
          "a problem begins with its path", problem.message);
  // That of an expression shows its place in a second line, and a caret below.
  for (const std::string_view line : split(problem.message, '\n'))
    promise(is_utf8(line) && printable(line, 100'000) == line, "a problem is of printable lines",
            problem.message);
}

void check_sizes(const model::PoolSizes& sizes, const std::string& pool) {
  promise(sizes.min >= 0 && (sizes.min <= sizes.max || !sizes.texts.max.empty()),
          "min is at most max", pool);
  promise(!sizes.created_min || !sizes.created_max || *sizes.created_min <= *sizes.created_max,
          "created_min is at most created_max", pool);
  promise(sizes.texts.min.empty() || sizes.min == 0, "a bound is a number or a text", pool);
}

void check_metrics(const config::Config& config) {
  promise(config.metric_sources.size() == config.site.metrics.size(), "each metric has a source");
  for (std::size_t i = 0; i < config.metric_sources.size(); ++i) {
    const model::MetricSource& source = config.metric_sources[i];
    promise(source.name == config.site.metrics[i].name, "a source is of its metric", source.name);
    promise(source.url.find('@') == std::string::npos ||
                source.url.find_first_of("/?#", source.url.find("://") + 3) < source.url.find('@'),
            "an address has no password", source.name);
    promise(source.timeout <= source.interval, "readings follow each other", source.name);
  }
}

void check_config(const config::Config& config) {
  check_metrics(config);
  promise(config.state_dir.is_absolute(), "the state folder is absolute");
  promise(config.sets.size() == config.site.sets.size(), "each set has its policy");
  for (const model::PoolPolicy& pool : config.site.pools) {
    promise(is_name(pool.name), "a pool has a name", pool.name);
    check_sizes(pool.sizes, pool.name);
  }
  for (const model::InstanceType& type : config.site.types) {
    promise(type.resources.vcpus > 0 && type.price_per_hour.value >= 0, "a type is sane",
            type.name);
    std::int64_t gpus = type.gpu_groups.empty() ? type.resources.gpus : 0;
    for (const model::GpuGroup& group : type.gpu_groups) gpus += group.count;
    promise(gpus == type.resources.gpus && gpus <= model::kGpusMax &&
                type.gpu_groups.size() <= model::kGpuKindsMax,
            "the groups of gpus are all gpus together", type.name);
  }
  const config::Diff diff = config::diff(config, config);
  promise(diff.live.empty() && diff.restart.empty(), "a config does not differ from itself");
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler::fuzz;
  const auto reading = read(as_text(data, size));
  for (const auto& problem : reading.problems) check_problem(problem);
  if (!reading.problems.empty()) return 0;
  check_config(reading.config);
  promise(read(as_text(data, size)).config == reading.config, "reading again gives the same");
  return 0;
}
