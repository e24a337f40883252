#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/cloud.h"
#include "core/model/policy.h"

/// The one place where the configuration becomes a create.
namespace hostler::model {

/// Where in the cloud a create may go. Empty: the driver chooses.
struct Place {
  std::string zone, subnet;
};
/// Each subnet in the zone that it is in, and one that is in every zone in each of the type.
[[nodiscard]] std::vector<Place> places_of(const PoolPolicy& pool, const InstanceType& type);

/// What a create is made of.
struct CreateOrder {
  const SitePolicy& site;
  const SetPolicy& set;
  const PoolPolicy& pool;
  const InstanceType& type;
  const SetInfo& info;
  Place place;
  std::string image_id;     ///< As the image queries found it, or as configured.
  std::string quota_group;  ///< Of the type in the set.
  std::string host;         ///< "h-7"
  std::string owner;        ///< The store's id.
  std::uint64_t epoch = 0;
};

/// The request without its key and its secrets.
[[nodiscard]] CreateRequest create_request(const CreateOrder& order);
/// It is found again by this key.
void set_key(CreateRequest& request, const std::string& key);

}  // namespace hostler::model
