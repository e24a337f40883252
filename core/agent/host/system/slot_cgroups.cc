#include "core/agent/host/system/slot_cgroups.h"

#include <utility>

namespace hostler::agent {

void SlotCgroups::open(const std::string& name, bool limited) {
  name_ = name;
  if (limited) limits_.open(name);
}

bool SlotCgroups::choose_devices(Version version) {
  if (devices_) devices_->remove_idle({});
  devices_.reset();
  shared_ = version == Version::kV2 && limits() == Version::kV2;
  if (shared_) return true;
  const auto opens = [&](std::vector<std::string> controllers, const std::string& root) {
    Cgroups tried(std::move(controllers), root, own_);
    tried.open(name_);
    if (tried.version() != version) return tried.remove_idle({}), false;
    devices_ = std::move(tried);
    return true;
  };
  if (version == Version::kV1) return opens({"devices"}, root_);
  for (const std::string& mount : Cgroups::mounts_of_v2(mounts_))
    if (version == Version::kV2 && opens({}, mount)) return true;
  return false;
}

SlotCgroups::Place SlotCgroups::prepare(std::uint32_t slot, const CgroupLimits& limits,
                                        bool guarded) {
  Place out;
  out.folders = limits_.prepare(slot, limits);
  out.has_limits = !out.folders.empty();
  if (!guarded || device_cgroups() == nullptr) return out;
  Folders made;
  if (!shared_)
    made = devices_->make(slot);
  else if (!out.has_limits)
    made = limits_.make(slot);
  out.folders.insert(out.folders.end(), made.begin(), made.end());
  if (!out.folders.empty()) out.devices = devices(slot);
  return out;
}

std::string SlotCgroups::devices(std::uint32_t slot) const {
  const Cgroups* const cgroups = device_cgroups();
  const Folders found = cgroups == nullptr ? Folders() : cgroups->folders(slot);
  return found.empty() ? "" : found.front();
}

SlotCgroups::Folders SlotCgroups::folders(std::uint32_t slot) const {
  Folders out = limits_.folders(slot);
  if (!devices_) return out;
  const Folders more = devices_->folders(slot);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

void SlotCgroups::adopt(std::uint32_t slot) {
  limits_.adopt(slot);
  if (devices_) devices_->adopt(slot);
}

void SlotCgroups::remove_idle(const std::set<std::uint32_t>& used) {
  limits_.remove_idle(used);
  if (devices_) devices_->remove_idle(used);
}

}  // namespace hostler::agent
