#pragma once

#include <string_view>

namespace hostler::api {

/// openapi.json: the OpenAPI 3.1 document of all routes. Tests compare it with the routes
/// (openapi_test.cc) and with every answer that they get (tests/integration/daemon).
std::string_view openapi_json();

}  // namespace hostler::api
