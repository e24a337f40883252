#pragma once

#include <string>

#include "core/base/error.h"

namespace hostler::sources {

/// SECRET: the header with the token of a file, which is read anew: "Authorization: Bearer TOKEN".
/// A token of Fly ("FlyV1 ...") is sent as it is. kForbidden: others than its owner could read or
/// change the file. Blocks on the file system. Errors never quote the file.
Result<std::string> authorization_of(const std::string& token_file);

}  // namespace hostler::sources
