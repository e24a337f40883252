#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "core/hosts/settings.h"
#include "core/model/ids.h"

namespace hostler::hosts {

/// Divides the room of the daemon's disk among the output of all hosts: where it is short, as much
/// comes at once as can come whole, so that some jobs end and the disk does not fill with parts.
/// Hosts thread only.
class OutputRoom {
 public:
  explicit OutputRoom(std::function<DiskRoom()> look) : look_(std::move(look)) {}

  /// May the rest of the output of this attempt come, which has ended? If so, the room for it is
  /// promised until release(). Called again, as bytes come and when there is more to come.
  bool admit(model::AttemptId attempt, std::uint64_t rest);
  void release(model::AttemptId attempt);
  /// May output of running jobs come? A part of the disk is left to those that have ended.
  [[nodiscard]] bool has_room_to_stream() const;
  [[nodiscard]] bool is_full() const { return look_().free == 0; }

 private:
  const std::function<DiskRoom()> look_;
  std::map<model::AttemptId, std::uint64_t> promised_;  ///< Bytes that are still to come.
  std::uint64_t sum_ = 0;                               ///< Of promised_.
};

}  // namespace hostler::hosts
