#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sdk/check/host/session.h"

namespace hostler::check {

/// A call of a set that many tests make in the same way: on a machine, or on none.
struct ExtraCall {
  const char* name;       ///< As in messages: "leftovers list".
  const char* extension;  ///< Null: every driver has the function.
  /// The error's class, or nothing after a success. `id`: of an instance that may not be there.
  std::function<std::optional<model::CloudError>(Session&, const std::string& id)> make;
};

/// Calls that make nothing and end nothing: those of the table, and those of each extension.
const std::vector<ExtraCall>& harmless_calls();
/// Whether the driver has the function.
bool is_there(const ExtraCall& call);

template <class T>
std::optional<model::CloudError> error_of(const model::CloudResult<T>& got) {
  if (got) return std::nullopt;
  return got.error();
}

}  // namespace hostler::check
