#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/handlers.h"

/// Inside api: the whole surface, in one place.
namespace hostler::api {

struct Route {
  std::string_view method;
  /// "*" stands for one segment, "**" at the end for the rest.
  std::vector<std::string_view> path;
  /// What it takes at least; unset: anybody may. Which jobs are the asker's is the service's to
  /// say.
  std::optional<Role> role;
  void (*run)(const Context&, Request, Respond);
  std::vector<std::string_view> query = {};  ///< Keys that it takes.
};

const std::vector<Route>& routes();

/// "/v1/jobs/*/output"
[[nodiscard]] std::string pattern(const Route& route);

[[nodiscard]] bool matches(const Route& route, const std::vector<std::string>& path);

}  // namespace hostler::api
