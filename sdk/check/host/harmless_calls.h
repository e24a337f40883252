#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sdk/check/host/session.h"

namespace hostler::check {

/// A call that makes no machine and destroys none. Many tests make it in the same way.
struct HarmlessCall {
  const char* name;       ///< As in messages: "leftovers list".
  const char* extension;  ///< Null: every driver has the function.
  /// The error; nothing after a success. `id`: of an instance that may not be there.
  std::function<std::optional<model::CloudError>(Session&, const std::string& id)> make;
};

/// Those of the table, and one of each extension.
const std::vector<HarmlessCall>& harmless_calls();
/// Whether the driver has the function.
bool is_there(const HarmlessCall& call);

template <class T>
std::optional<model::CloudError> error_of(const model::CloudResult<T>& got) {
  if (got) return std::nullopt;
  return got.error();
}

}  // namespace hostler::check
