#pragma once

#include <string_view>

namespace hostler::api {

/// openapi.json: the OpenAPI 3.1 document of all routes. Tests keep it true: openapi_test.cc holds
/// it against the routes, tests/integration/daemon against every answer that they get.
std::string_view openapi_json();

}  // namespace hostler::api
