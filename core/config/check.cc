#include "core/config/check.h"

namespace hostler::config {
namespace {

std::string count(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

std::string CheckReport::text() const {
  std::string out;
  for (const Error& problem : problems) out += "error: " + problem.message + "\n";
  for (const std::string& warning : warnings) out += "warning: " + warning + "\n";
  return out + summary + "\n";
}

void CheckReport::summarise(const std::filesystem::path& file) {
  summary = file.string() + ": " + count(problems.size(), "error");
}

CheckReport check(const std::filesystem::path& file, LoadOptions options) {
  options.trusted_only = false;
  Reading reading = read(file, options);
  CheckReport out{.problems = std::move(reading.problems),
                  .warnings = std::move(reading.warnings),
                  .summary = file.string() + ": "};
  if (out.good()) {
    options.trusted_only = true;
    for (const Error& problem : read(file, options).problems)
      out.warnings.push_back("hostlerd would not start with this file here: " + problem.message);
    const model::SitePolicy& site = reading.config.site;
    out.summary += "good: " + count(site.sets.size(), "set") + ", " +
                   count(site.types.size(), "type") + ", " + count(site.pools.size(), "pool");
  } else {
    out.summarise(file);
  }
  return out;
}

}  // namespace hostler::config
