#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/handlers.h"

/// Private to core/api: the table of all routes.
namespace hostler::api {

struct Route {
  std::string_view method;
  /// "*" stands for one segment, "**" at the end for the rest.
  std::vector<std::string_view> path;
  /// The lowest role that may use the route; unset: any client. The service checks whose job it is.
  /// kScaler: no other role but admins on the socket.
  std::optional<Role> role;
  void (*run)(const Context&, Request, Respond);
  std::vector<std::string_view> query = {};  ///< The query keys that it knows.
  /// The role scaler, which is beside the order of the others, may use it for the pools of its
  /// token: "/v1/pools/*/...".
  bool for_scalers = false;
};

const std::vector<Route>& routes();

/// "/v1/jobs/*/output"
[[nodiscard]] std::string pattern(const Route& route);

/// kForbidden unless the client of the request, which matches the route, may use it.
[[nodiscard]] Result<void> check_role(const Route& route, const Request& request);

[[nodiscard]] bool matches(const Route& route, const std::vector<std::string>& path);

}  // namespace hostler::api
