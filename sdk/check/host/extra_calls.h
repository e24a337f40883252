#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sdk/check/host/session.h"

namespace hostler::check {

/// A call of a set that many tests make in the same way: on a machine, or on none.
struct ExtraCall {
  const char* name;       ///< As in messages: "leftovers list".
  const char* extension;  ///< Null: every driver has the function.
  bool is_watch;          ///< It goes on until it is cancelled.
  /// The error's class, or nothing after a success. `id`: of an instance that may not be there.
  std::function<std::optional<model::CloudError>(Session&, const std::string& id)> make;
};

/// Calls that make nothing and end nothing: those of the table, and those of each extension.
const std::vector<ExtraCall>& harmless_calls();

}  // namespace hostler::check
