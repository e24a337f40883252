#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/model/cloud.h"

namespace hostler::store {

/// A create request as the text of one column. Holds secrets. Reading gives back the same request
/// byte for byte, as it may be sent to the cloud again. kInternal: the text is damaged.
std::string to_json(const model::CreateRequest& request);
Result<model::CreateRequest> create_from_json(std::string_view text);

}  // namespace hostler::store
