#include "core/dispatch/state/boot_gates.h"

#include <algorithm>
#include <set>

#include "core/base/text.h"
#include "core/fleet/boot.h"

namespace hostler::dispatch {
namespace {

constexpr std::size_t kWordsMax = 600;

/// Hosts of this type may have been made of the image.
bool may_be_of(const model::PoolPolicy& pool, const model::InstanceType& type,
               const std::string& image) {
  const std::string& named = model::image_of(pool, type);
  return named == image || named.empty() || pool.image || type.image;
}

/// A digest, since they may be long.
std::string boot_data(const model::PoolPolicy& pool) {
  std::string text = *pool.cloud_config;
  for (const auto& file : *pool.boot_files)
    text += '\n' + file.path + '\n' + std::to_string(file.mode) + ' ' + file.owner + '\n' +
            file.content;
  return std::to_string(fnv1a(text)) + '\n';
}

}  // namespace

gates::GateQuery BootGates::query(const Host& host) const {
  auto out = gates_.query(host, model::CloudOp::kCreate);
  // The cloud may have chosen the zone: the gate is for the zone that is asked for.
  const std::uint32_t offering = menu_.offering_of(host.instance);
  if (offering < menu_.offerings().size()) out.zone = menu_.offerings()[offering].zone;
  return out;
}

bool BootGates::look(Host& host, Now now) {
  if (host.instance.listing.tell_shortage()) was_short(host, now);
  const fleet::Boot boot = fleet::boot_of(host.instance, now);
  if (boot == host.boot || host.boot == fleet::Boot::kFailed) return false;
  // One that dies right after it was ready has failed after all.
  if (host.boot == fleet::Boot::kReady && boot != fleet::Boot::kFailed) return false;
  host.boot = boot;
  if (boot == fleet::Boot::kUnderWay) {  // It waits no longer without a deadline.
    gates_.boot_sent(query(host), now);
    return false;
  }
  const auto& record = host.instance.record;
  const auto kind = query(host);
  if (boot == fleet::Boot::kReady) {
    history_.succeeded(kind);
    gates_.booted(kind, record.id.text() + " is ready", now);
    gates_.boot_unknown(kind, now);  // A gate of its former image, which it probed, opens again.
  } else if (boot == fleet::Boot::kFailed && host.instance.creating.decided_at() >= changed_at_) {
    const std::string why =
        record.reason.empty() ? model::info(record.reason_code).sentence : record.reason;
    const std::string text = printable(record.id.text() + ": " + why, kWordsMax);
    const bool init = record.reason_code == model::Reason::kInitFailed;
    gates_.boot_failed(kind, history_.failed(kind, init, text), text, now);
    gates_.boot_unknown(kind, now);  // Gates of a kind that it was, and is not any more.
  } else {
    if (host.instance.notices.is_reclaimed() && record.ready.us == 0) reclaimed(host, now);
    gates_.boot_unknown(kind, now);
  }
  return boot == fleet::Boot::kFailed;
}

/// No failed boot: but the cloud has no such machines to give for longer.
void BootGates::reclaimed(const Host& host, Now now) {
  model::CloudError error;
  error.cls = model::CloudErrorClass::kCapacity;
  error.message =
      "the cloud announced that it takes " + host.id().text() + " back before it was ready";
  gates_.refused(query(host), error, now, gates::Told::kLater);
}

/// The cloud has said after the create what it could have answered to it.
void BootGates::was_short(const Host& host, Now now) {
  const auto& listing = host.instance.listing;
  model::CloudError error;
  error.cls = listing.shortage()->cls;
  error.scope = listing.shortage()->scope;
  error.zone = host.instance.record.zone;
  error.message = printable(host.id().text() + ": " + listing.error(), kWordsMax);
  gates_.refused(query(host), error, now, gates::Told::kLater);
}

void BootGates::restore(Host& host, Now now) {
  host.boot = fleet::boot_of(host.instance, now);
  if (host.boot == fleet::Boot::kUnderWay) gates_.boot_sent(query(host), now);
}

BootGates::Settings BootGates::settings_of(const model::SitePolicy& policy) {
  const auto place = [](const model::Placement& of) {
    std::string text;
    for (const auto& subnet : of.subnets) text += subnet.id + '\t' + subnet.zone + '\t';
    for (const auto* name : {&of.placement_group, &of.capacity_reservation, &of.identity_profile})
      text += '\n' + *name;
    text += '\n' + std::to_string(static_cast<int>(of.tenancy)) + '\n' +
            std::to_string(static_cast<int>(of.public_address));
    for (const auto* names : {&of.security_groups, &of.profiles}) {
      text += '\n';
      for (const auto& name : *names) text += name + '\t';
    }
    return text;
  };
  const auto image = [](const std::optional<model::ImageQuery>& query) {
    return '\n' + (query ? model::to_string(*query) : "");
  };
  std::string of_sets;
  for (const auto& set : policy.sets) of_sets += image(set.image);
  std::set<std::string> chosen;  // Which types a pool chooses says nothing of how it boots them.
  for (const auto& type : policy.types)
    if (!type.only_in.empty()) chosen.insert(type.name);
  Settings out;
  for (const auto& pool : policy.pools) {
    std::string text = boot_data(pool) + pool.init_command + '\n' + pool.boot_probe + '\n' +
                       std::to_string(static_cast<int>(pool.init_failure)) + '\n' +
                       std::to_string(static_cast<int>(pool.init_delivery)) + '\n' +
                       std::to_string(pool.boot_timeout.count()) + '\n' + pool.image_id + '\n' +
                       place(pool.placement) + image(pool.image) + of_sets;
    if (pool.selector) text += '\n' + pool.selector->provider_params_json;
    for (const auto& [type, params] : pool.provider_params)
      if (!chosen.contains(type)) text += '\n' + type + '\t' + params;
    out.pools.emplace_back(pool.name, std::move(text));
  }
  for (const auto& type : policy.types)
    out.types.emplace_back(type.name, type.image_id + '\n' + type.provider_type + '\n' +
                                          type.provider_params_json + '\n' + place(type.placement) +
                                          image(type.image));
  return out;
}

void BootGates::reloaded(Now now) {
  Settings fresh = settings_of(policy_);
  const auto changed = [](const auto& before, const auto& after, const std::string& name) {
    const auto is = [&](const auto& one) { return one.first == name; };
    const auto a = std::ranges::find_if(before, is);
    const auto b = std::ranges::find_if(after, is);
    return a == before.end() || b == after.end() || *a != *b;
  };
  const bool any = fresh.pools != settings_.pools || fresh.types != settings_.types;
  if (!any) return;
  gates_.open_boots(
      [&](const model::GateRecord& gate) {
        if (changed(settings_.pools, fresh.pools, gate.pool)) return true;
        if (!gate.type.empty()) return changed(settings_.types, fresh.types, gate.type);
        const auto pool = std::ranges::find(policy_.pools, gate.pool, &model::PoolPolicy::name);
        return std::ranges::none_of(policy_.types, [&](const auto& type) {
          return std::ranges::find(pool->types, type.name) != pool->types.end() &&
                 may_be_of(*pool, type, gate.image) &&
                 !changed(settings_.types, fresh.types, type.name);
        });
      },
      "the configuration of new hosts has changed", now);
  history_.forget();
  changed_at_ = now.mono;
  settings_ = std::move(fresh);
}

}  // namespace hostler::dispatch
