#pragma once

#include <string>

#include "core/model/cloud_records.h"
#include "core/plugin_host/driver_set.h"
#include "core/tap/secrets.h"

/// Requests of calls as JSON objects without secrets. What was not asked for is left out. Pure.
namespace hostler::tap {

std::string to_json(const plugin_host::SetConfig& config, const std::string& driver_version);
std::string to_json(const model::CreateRequest& request, const Secrets& secrets);
std::string to_json(const model::ListRequest& request, const Secrets& secrets);
std::string to_json(const model::DestroyRequest& request, const Secrets& secrets);
std::string to_json(const model::SetTagsRequest& request, const Secrets& secrets);
std::string to_json(const plugin_host::HostKeyCheck& check, const Secrets& secrets);
std::string to_json(const plugin_host::PriceQuery& query, const Secrets& secrets);
std::string to_json(const model::InstanceType& type, const Secrets& secrets);
std::string to_json(const model::PowerRequest& request, const Secrets& secrets);
std::string to_json(const model::OfferingsQuery& query, const Secrets& secrets);
std::string to_json(const model::ConsoleQuery& query, const Secrets& secrets);
std::string to_json(const model::LeftoverDestroyRequest& request, const Secrets& secrets);
std::string to_json(const model::ImageQuery& query, const Secrets& secrets);
std::string tags_to_json(const model::Tags& tags, const Secrets& secrets);

}  // namespace hostler::tap
