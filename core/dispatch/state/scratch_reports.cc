#include "core/dispatch/state/scratch_reports.h"

#include <algorithm>

namespace hostler::dispatch {
namespace {
constexpr std::size_t kReportsKept = 3;  ///< Of each type; the newest last.
}

bool ScratchReports::take(std::uint32_t set, const std::string& type, model::InstanceId host,
                          std::int64_t bytes) {
  auto& reports = of_types_[{set, type}];
  const auto same = std::ranges::find(reports, host, &Report::host);
  if (same != reports.end() && same->bytes == bytes) return false;
  if (same != reports.end()) reports.erase(same);
  reports.push_back({host, bytes});
  if (reports.size() > kReportsKept) reports.erase(reports.begin());
  return true;
}

std::int64_t ScratchReports::expected(std::uint32_t set, const std::string& type,
                                      std::int64_t configured) const {
  const auto found = of_types_.find({set, type});
  if (found == of_types_.end() || found->second.size() < kReportsKept) return configured;
  const auto most = std::ranges::max_element(found->second, {}, &Report::bytes);
  return std::min(configured, most->bytes);
}

}  // namespace hostler::dispatch
