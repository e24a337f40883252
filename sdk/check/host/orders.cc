#include "sdk/check/host/orders.h"

#include <utility>
#include <vector>

#include "core/model/create_request.h"
#include "core/ssh/create_secrets.h"

namespace hostler::check {
namespace {

/// What the settings say, as if it was a site's.
Site site_of(const Settings& settings) {
  Site out;
  out.set.tags = {{"purpose", "driver-check"}};
  out.pool.name = "check";
  out.type = settings.type;
  out.type.image_id = settings.image_id;
  if (!settings.zone.empty()) out.type.zones = {settings.zone};
  return out;
}

std::vector<std::string> login_keys(const Site& site, const std::string& else_key) {
  std::vector<std::string> out;
  for (const auto& key : site.user_keys) out.push_back(key.public_key);
  if (out.empty()) out.push_back(else_key);
  return out;
}

}  // namespace

std::optional<model::ImageQuery> image_query(const Settings& settings) {
  if (!settings.site) return std::nullopt;
  const Site& site = *settings.site;
  return model::image_query_of(site.pool, site.type, site.set);
}

model::Tags shared_tags(const Settings& settings) {
  return settings.site ? settings.site->set.tags : site_of(settings).set.tags;
}

Order make_order(const Settings& settings, const model::SetInfo& info, const std::string& image_id,
                 const std::string& login_key, const std::string& key) {
  Site site = settings.site ? *settings.site : site_of(settings);
  site.set.name = kKitSet;
  const auto& [policy, set, pool, type, config, credentials, user_keys, proxy] = site;
  Order out;
  out.request =
      model::create_request({.site = policy,
                             .set = set,
                             .pool = pool,
                             .type = type,
                             .info = info,
                             .place = model::places_of(pool, type).front(),
                             .image_id = image_id.empty() ? model::image_of(pool, type) : image_id,
                             .quota_group = {},
                             .host = "h-" + key,
                             .owner = kKitSet,
                             .epoch = 1});
  out.request.ssh_public_keys = login_keys(site, login_key);
  if (settings.site) ssh::add_secrets(pool, set.name, info, out.request, out.identity);
  model::set_key(out.request, key);
  return out;
}

}  // namespace hostler::check
