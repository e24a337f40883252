#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "notices.h"

namespace hostler::ec2 {

/// The notices that the watches of a set have found so far.
class KnownNotices {
 public:
  /// Nothing: EC2 did not answer.
  using FindUndisturbed = std::function<std::optional<std::set<std::string>>(
      const std::vector<std::string>& instances)>;

  /// Compares the notices that EC2 shows now with the known ones. Returns the notices to emit: new
  /// and changed ones, and withdrawn ones with HOSTLER_INTERRUPTION_WITHDRAWN. The notice of an
  /// interruption that has happened is kept for ten minutes after its time. \param find_undisturbed
  /// is called at most once, with instances that have no notice any more. Without an answer these
  /// notices stay until the next call.
  Notices take(Notices said, std::int64_t now_unix_ns, const FindUndisturbed& find_undisturbed);
  /// A new watch begins: the next take() returns all notices that hold, also the known ones. What
  /// EC2 has taken back since the watch before is withdrawn.
  void begin_watch() { repeats_ = true; }
  [[nodiscard]] const Notices& all() const { return known_; }

 private:
  Notices known_;
  bool repeats_ = false;
  std::set<std::string> happened_;  ///< Instances of known_ that EC2 shows no notice of any more.
};

}  // namespace hostler::ec2
