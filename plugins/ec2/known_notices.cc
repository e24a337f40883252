#include "known_notices.h"

#include <hostler/driver.h>

#include <iterator>
#include <utility>

namespace hostler::ec2 {
namespace {

constexpr std::int64_t kKeptNs = 600'000'000'000;
/// EC2 may act sooner than it said, and the clocks may differ.
constexpr std::int64_t kEarlyNs = 180'000'000'000;

}  // namespace

Notices KnownNotices::take(Notices said, std::int64_t now_unix_ns,
                           const FindUndisturbed& find_undisturbed) {
  Notices news;
  const auto withdraw = [&](const std::string& instance) {
    news[instance] = {"EC2 does not say it any more", 0, HOSTLER_INTERRUPTION_WITHDRAWN};
  };
  std::vector<std::string> missing;
  for (const auto& [instance, notice] : known_) {
    if (said.count(instance) != 0 || happened_.count(instance) != 0) continue;
    if (notice.interruption_unix_ns > now_unix_ns + kEarlyNs)
      withdraw(instance);  // It cannot have happened.
    else
      missing.push_back(instance);
  }
  const auto back = missing.empty() ? std::set<std::string>() : find_undisturbed(missing);
  const bool repeats = std::exchange(repeats_, false);
  for (const auto& [instance, notice] : said) {
    const auto known = known_.find(instance);
    if (repeats || known == known_.end() || !known->second.is_same(notice)) news[instance] = notice;
    happened_.erase(instance);
  }
  for (const auto& instance : missing) {
    if (!back)
      said[instance] = known_.at(instance);
    else if (back->count(instance) == 0)
      happened_.insert(instance);
    else
      withdraw(instance);
  }
  for (auto at = happened_.begin(); at != happened_.end();) {
    const Notice& notice = known_.at(*at);
    const bool is_kept = now_unix_ns < notice.interruption_unix_ns + kKeptNs;
    if (is_kept) said[*at] = notice;
    at = is_kept ? std::next(at) : happened_.erase(at);
  }
  known_ = std::move(said);
  return news;
}

}  // namespace hostler::ec2
