#include "core/config/check.h"

namespace hostler::config {
namespace {

std::string count(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

CheckReport check(const std::filesystem::path& file, const LoadOptions& options) {
  const Reading reading = read(file, options);
  CheckReport out{.good = reading.problems.empty(), .text = {}};
  for (const Error& problem : reading.problems) out.text += "error: " + problem.message + "\n";
  for (const std::string& warning : reading.warnings) out.text += "warning: " + warning + "\n";
  out.text += file.string() + ": ";
  if (out.good) {
    const model::SitePolicy& site = reading.config.site;
    out.text += "good: " + count(site.sets.size(), "set") + ", " +
                count(site.types.size(), "type") + ", " + count(site.pools.size(), "pool");
  } else {
    out.text += count(reading.problems.size(), "error");
  }
  out.text += "\n";
  return out;
}

}  // namespace hostler::config
