#include "devices.h"

#include <hostler/driver.hpp>
#include <limits>

#include "with_context.h"

namespace hostler::lxd {
namespace {

using driver::Error;

std::string get(const Device& device, const char* key) {
  const auto found = device.find(key);
  return found == device.end() ? std::string() : found->second;
}

bool is_root(const Device& device) {
  return get(device, "type") == "disk" && get(device, "path") == "/";
}

void refuse_disk(const hostler_disk& disk) {
  const char* const problem =
      disk.role != HOSTLER_DISK_ROOT
          ? "the scratch space of a container is on its root disk: ask for a larger root disk "
            "instead of a scratch disk"
      : disk.iops != 0 || disk.throughput_bytes_per_s != 0
          ? "LXD gives a disk no iops or throughput, it only limits them: set limits.read and "
            "limits.write of the root disk in a profile"
      : disk.bytes > std::uint64_t(std::numeric_limits<std::int64_t>::max())
          ? "the root disk is larger than LXD can count"
          : nullptr;
  if (problem != nullptr) throw Error(HOSTLER_E_UNSUPPORTED, problem);
}

/// A device without any of these gives all cards of the machine.
bool gives_all_cards(const Device& gpu) {
  for (const char* key : {"id", "pci", "vendorid", "productid"})
    if (!get(gpu, key).empty()) return false;
  return true;
}

/// A device of type unix-char for /dev/nvidiaN in the container: one card, given by its file.
bool is_card_file(const Device& device) {
  constexpr std::string_view kCard = "/dev/nvidia";
  const std::string path = get(device, get(device, "path").empty() ? "source" : "path");
  return get(device, "type") == "unix-char" && path.starts_with(kCard) &&
         path.size() > kCard.size() &&
         path.find_first_not_of("0123456789", kCard.size()) == std::string::npos;
}

void check_gpus(std::uint32_t wanted, const Devices& of_profiles) {
  std::uint32_t given = 0;
  for (const auto& [name, device] : of_profiles) {
    const bool is_gpu = get(device, "type") == "gpu";
    if (is_gpu && gives_all_cards(device)) return;
    if (is_gpu || is_card_file(device)) ++given;
  }
  if (given < wanted)
    throw Error(HOSTLER_E_UNSUPPORTED,
                "the type has " + std::to_string(wanted) + " gpus, and its profiles give " +
                    std::to_string(given) +
                    ": LXD does not choose gpus by their number, so name each in a device of a "
                    "profile (`lxc profile device add PROFILE gpu0 gpu pci=...`)");
}

}  // namespace

DeviceWishes read_wishes(const hostler_create_req& request) {
  DeviceWishes out;
  out.gpus = request.type->gpus;
  for (std::size_t i = 0; i < request.n_disks; ++i) {
    const hostler_disk& disk = *request.disks[i];
    refuse_disk(disk);
    if (out.has_root) throw Error(HOSTLER_E_INVALID, "there is more than one root disk");
    out.has_root = true;
    out.root_bytes = disk.bytes;
    out.root_pool = text(disk.kind);
  }
  return out;
}

void add_devices(const Value& profile, Devices& to) {
  const Value* const devices = object_of(profile, "devices");
  if (devices == nullptr) throw_not_lxd("a profile without devices");
  for (const auto& member : devices->GetObject()) {
    Device device;
    if (!member.value.IsObject()) throw_not_lxd("a device that is no object");
    for (const auto& pair : member.value.GetObject())
      if (pair.value.IsString()) device[pair.name.GetString()] = pair.value.GetString();
    to[member.name.GetString()] = device;
  }
}

Devices own_devices(const DeviceWishes& wishes, const Devices& of_profiles) {
  Devices out;
  if (wishes.gpus != 0) check_gpus(wishes.gpus, of_profiles);
  if (!wishes.has_root) return out;
  for (const auto& [name, device] : of_profiles) {
    if (!is_root(device)) continue;
    Device& root = out[name] = device;
    if (wishes.root_bytes != 0) root["size"] = std::to_string(wishes.root_bytes);
    if (!wishes.root_pool.empty()) root["pool"] = wishes.root_pool;
    return out;
  }
  throw Error(HOSTLER_E_INVALID, "no profile of the request has a root disk (type disk, path /)");
}

}  // namespace hostler::lxd
