#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/model/cloud.h"

namespace hostler::store {

/// A create's intent as the one text column it is kept in. Holds secrets. What comes back equals
/// what went in byte for byte, for it is sent again as it is.
std::string to_json(const model::CreateRequest& request);
Result<model::CreateRequest> create_from_json(std::string_view text);

}  // namespace hostler::store
