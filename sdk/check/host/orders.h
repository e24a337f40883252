#pragma once

#include <optional>
#include <string>

#include "core/model/cloud.h"
#include "core/model/instance.h"
#include "sdk/check/settings.h"

namespace hostler::check {

/// The tag hostler-set of all that the kit makes.
inline constexpr const char* kKitSet = "driver-check";

/// The request for a machine, and what proves the machine.
struct Order {
  model::CreateRequest request;
  model::HostIdentity identity;  ///< Of a site only.
};

/// The query for the image of the site's machines; nothing: there is none.
[[nodiscard]] std::optional<model::ImageQuery> image_query(const Settings& settings);

/// Made by the functions by which hostlerd makes its requests. `image_id`: what the query has
/// found. `login_key`: who may log in where the site has no keys of its own.
[[nodiscard]] Order make_order(const Settings& settings, const model::SetInfo& info,
                               const std::string& image_id, const std::string& login_key,
                               const std::string& key);

/// Tags of everything that the set makes.
[[nodiscard]] model::Tags shared_tags(const Settings& settings);

}  // namespace hostler::check
