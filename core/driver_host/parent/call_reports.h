#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/driver_host/wire/frame.h"
#include "core/driver_host/wire/messages.h"
#include "core/plugin_host/operation.h"

namespace hostler::driver_host {

/// The records that calls in one process send: puts those together that come in several frames, and
/// passes each on to its operation as if the driver had emitted it here, so that every check is
/// made again. Owned and used by the thread that reads the frames.
class RecordReader {
 public:
  using Op = std::shared_ptr<plugin_host::Operation>;
  /// The operation of a call. Null: it is over.
  using Find = std::function<Op(std::uint64_t call)>;

  /// Takes a frame of a record. False if the driver should stop.
  bool take(const Frame& frame, const Find& find);
  /// The call is over.
  void end(std::uint64_t call);

 private:
  bool keep_part(const Frame& frame);

  // Records of one call come one after another: its operation is looked for once.
  std::uint64_t last_call_ = 0;
  Op last_;
  std::unordered_map<std::uint64_t, std::string> parts_;  ///< By call: frames to which more follow.
};

/// Ends the operation as the driver has ended the call.
void pass_end(plugin_host::Operation& op, const End& end);

}  // namespace hostler::driver_host
