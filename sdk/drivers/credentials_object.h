#pragma once

#include <rapidjson/document.h>

#include <functional>
#include <string>

namespace hostler::driver {

/// Throws Error(HOSTLER_E_INVALID, "credentials: ..."). \param problem says nothing of the values.
[[noreturn]] void refuse_credentials(const std::string& problem);

/// Calls `member` with the name and value of each member of the credentials of a set, which are
/// empty or a JSON object. Refuses all else.
void read_credentials_object(
    const std::string& text,
    const std::function<void(const std::string& name, const rapidjson::Value& value)>& member);

}  // namespace hostler::driver
