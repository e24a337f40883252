#include "create.h"

#include <unistd.h>

#include <algorithm>
#include <hostler/driver.hpp>

#include "folder/files.h"
#include "program.h"

namespace hostler::local {
namespace {

using driver::Error;
using driver::view;

constexpr std::size_t kUserDataMax = std::size_t{64} * 1024;
constexpr std::size_t kTagsMax = 50, kTagKeyMax = 128, kTagValueMax = 256;
constexpr std::size_t kKeysMax = 64, kKeyMax = std::size_t{16} * 1024;

[[noreturn]] void refuse(const std::string& problem) { throw Error(HOSTLER_E_INVALID, problem); }

std::string limited(const hostler_str& text, std::size_t max, const char* what) {
  if (text.len > max)
    refuse(std::string(what) + " has " + std::to_string(text.len) + " bytes; at most " +
           std::to_string(max) + " are allowed");
  return std::string(view(text));
}

std::string word(const hostler_str& text, const char* what) {
  std::string copy = limited(text, 255, what);
  for (const char c : copy)
    if (static_cast<unsigned char>(c) < 0x20)
      refuse(std::string(what) + " has a control character");
  return copy;
}

std::string read_user_data(const hostler_create_req& request) {
  const hostler_user_data* data = request.user_data;
  if (data == nullptr || data->n_bytes == 0) return "";
  if (data->format != HOSTLER_USER_DATA_SH)
    throw Error(HOSTLER_E_UNSUPPORTED, "a machine of the local driver has no cloud-init");
  if (data->n_bytes > kUserDataMax) refuse("user data is longer than 64 KiB");
  std::string text(reinterpret_cast<const char*>(data->bytes), data->n_bytes);
  if (text.compare(0, 2, "#!") != 0) refuse("user data of the format SH does not begin with #!");
  return text;
}

std::string read_keys(const hostler_create_req& request) {
  if (request.n_ssh_public_keys > kKeysMax) refuse("more than 64 ssh_public_keys");
  std::string lines;
  for (std::size_t i = 0; i < request.n_ssh_public_keys; ++i) {
    std::string line = limited(request.ssh_public_keys[i], kKeyMax, "an ssh_public_key");
    while (!line.empty() && line.back() == '\n') line.pop_back();
    if (line.empty() || line.find('\n') != std::string::npos)
      refuse("ssh_public_keys: each key must be one line for authorized_keys");
    lines += line + "\n";
  }
  return lines;
}

void read_host_key(const hostler_create_req& request, CreateSpec& spec) {
  spec.host_key_private = limited(request.ssh_host_key_private, kKeyMax, "ssh_host_key_private");
  spec.host_key_public = limited(request.ssh_host_key_public, kKeyMax, "ssh_host_key_public");
  while (!spec.host_key_public.empty() && spec.host_key_public.back() == '\n')
    spec.host_key_public.pop_back();
  if (spec.host_key_private.empty() != spec.host_key_public.empty())
    refuse("ssh_host_key_private and ssh_host_key_public need each other");
  if (spec.host_key_public.empty()) return;
  if (spec.host_key_public.compare(0, 12, "ssh-ed25519 ") != 0 ||
      spec.host_key_public.find('\n') != std::string::npos)
    refuse(
        "ssh_host_key_public must be a line \"ssh-ed25519 AAAA...\"; other types are not "
        "supported");
}

/// What a machine of one's own does not have.
void refuse_cloud_only(const hostler_create_req& request) {
  const char* const wish = request.tenancy != HOSTLER_TENANCY_DEFAULT   ? "tenancy"
                           : request.public_ip == HOSTLER_PUBLIC_IP_YES ? "public_ip"
                           : request.n_disks != 0                       ? "disks"
                           : request.subnet.len != 0                    ? "subnet"
                           : request.n_security_groups != 0             ? "security_groups"
                           : request.n_profiles != 0                    ? "profiles"
                           : request.placement_group.len != 0           ? "placement_group"
                           : request.capacity_reservation.len != 0      ? "capacity_reservation"
                           : request.identity_profile.len != 0          ? "identity_profile"
                                                                        : nullptr;
  if (wish != nullptr)
    throw Error(HOSTLER_E_UNSUPPORTED, std::string("a local instance has no ") + wish);
}

/// The whole request as one text. Its digest tells whether another request is a retry.
std::string everything(const CreateSpec& spec) {
  Record plain = spec.record;
  plain.created_unix_ns = 0;
  return plain.text() + tags_text(spec.tags) + spec.zone + "\n\n" + spec.user_data + "\n" +
         spec.host_key_private + spec.authorized_keys;
}

/// "ssh-ed25519 AAAA...", without the comment.
std::string without_comment(const std::string& line) {
  const auto first = line.find(' ');
  const auto second = line.find_first_of(" \n", first + 1);
  return line.substr(0, second);
}

void make_key(const std::string& path, const Config& config, hostler_op* op) {
  const int status =
      run_program({config.ssh_keygen, "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path}, op);
  if (status != 0)
    throw Error(HOSTLER_E_INTERNAL, config.ssh_keygen + " ended with status " +
                                        std::to_string(status) + " when it made a host key");
}

}  // namespace

CreateSpec read_request(const hostler_create_req& request, const Config& config,
                        const Account& account, const std::string& set_id,
                        const Tags& shared_tags) {
  refuse_cloud_only(request);
  CreateSpec spec;
  Record& record = spec.record;
  record.idempotency_key = word(request.idempotency_key, "idempotency_key");
  if (record.idempotency_key.empty()) refuse("idempotency_key is empty");
  record.id = id_of_key(record.idempotency_key);
  record.host_instance_id = word(request.host_instance_id, "host_instance_id");
  record.set_id = set_id;
  record.owner = word(request.owner, "owner");
  record.name = word(request.name_hint, "name_hint");
  record.provider_type = word(request.type->provider_type, "type.provider_type");
  if (!config.types.empty() && config.types.count(record.provider_type) == 0)
    refuse("provider type \"" + record.provider_type + "\" is not in the driver config's `types`");
  record.image_id = word(request.image_id, "image_id");
  record.region = config.region;
  if (const auto region = word(request.region, "region");
      !region.empty() && region != config.region)
    refuse("region \"" + region + "\" is not this set's, which is \"" + config.region + "\"");
  spec.zone = word(request.zone, "zone");
  const auto& zones = config.zones;
  if (!spec.zone.empty() && std::find(zones.begin(), zones.end(), spec.zone) == zones.end())
    refuse("zone \"" + spec.zone + "\" is not in the driver config's `zones`");
  record.market =
      request.market == HOSTLER_MARKET_SPOT ? HOSTLER_MARKET_SPOT : HOSTLER_MARKET_ON_DEMAND;
  record.price_micros_per_hour = request.type->price_micros_per_hour;
  record.account = account.name;
  if (const auto user = word(request.remote_user, "remote_user");
      !user.empty() && user != account.name)
    throw Error(HOSTLER_E_UNSUPPORTED,
                "remote_user \"" + user + "\": \"" + account.name +
                    "\", the user of the daemon, logs in to local instances");
  record.port = config.port;
  spec.tags = shared_tags;
  for (std::size_t i = 0; i < request.n_tags; ++i)
    spec.tags[limited(request.tags[i].key, kTagKeyMax, "a tag's name")] =
        limited(request.tags[i].value, kTagValueMax, "a tag's value");
  spec.tags["hostler-set"] = set_id;
  spec.tags["hostler-key"] = record.idempotency_key;
  check_tags(spec.tags);
  spec.user_data = read_user_data(request);
  spec.authorized_keys = read_keys(request);
  read_host_key(request, spec);
  record.digest = hash_of(everything(spec));
  return spec;
}

void check_tags(const Tags& tags) {
  if (tags.size() > kTagsMax) refuse("more than 50 tags");
  for (const auto& [key, value] : tags) {
    const bool word = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
      return c > 0x20 && c != 0x7f;
    });
    if (!word) refuse("tag name \"" + key + "\" is empty or has a space or control character");
  }
}

void write_files(const Draft& draft, const CreateSpec& spec, const Config& config, Record& record,
                 const Account& account, hostler_op* op) {
  const InstanceFolder& folder = draft.folder();
  if (spec.host_key_private.empty()) {
    make_key(folder.host_key(), config, op);
    record.host_key = without_comment(read_file(folder.host_key() + ".pub").value_or(""));
  } else {
    write_file(folder.host_key(), spec.host_key_private);
    write_file(folder.host_key() + ".pub", spec.host_key_public + "\n", 0644);
    record.host_key = without_comment(spec.host_key_public);
  }
  const Dials& dials = config.dials;
  if (dials.key_change != Dials::KeyChange::kNever) {
    const bool at_once = dials.key_change == Dials::KeyChange::kBeforeSshd;
    const std::string path = at_once ? folder.host_key() : folder.other_host_key();
    if (at_once) {  // ssh-keygen would ask before it overwrites
      ::unlink(path.c_str());
      ::unlink((path + ".pub").c_str());
    }
    make_key(path, config, op);
  }
  BootPlan plan;
  plan.sshd = config.sshd;
  plan.account = account.name;
  plan.confinement = config.confinement;
  plan.delay_ms = config.boot_delay_ms;
  plan.sshd_delay_ms = dials.sshd_delay_ms;
  plan.key_change_ms =
      dials.key_change == Dials::KeyChange::kAfterSshd ? dials.key_change_after_ms : -1;
  if (const auto type = config.types.find(record.provider_type); type != config.types.end())
    plan.ram_bytes = type->second.ram_gib << 30;
  plan.own_shadow = account.locked;
  folder.set_boot_plan(plan);
  folder.give_order({Wanted::kRunning, false});
  make_folder(folder.agent(), 0755);
  make_folder(folder.home(), 0700);
  write_file(folder.tags(), tags_text(spec.tags));
  write_file(folder.authorized_keys(), spec.authorized_keys);
  if (account.locked) write_file(folder.shadow(), account.shadow());
  if (!spec.user_data.empty()) write_file(folder.user_data(), spec.user_data, 0700);
}

std::string find_zone(const CreateSpec& spec, const Config& config,
                      const std::vector<std::shared_ptr<const Record>>& others) {
  const auto used = static_cast<std::int64_t>(others.size());
  if (used >= config.instances_max)
    throw Error(HOSTLER_E_QUOTA, "instances_max of " + std::to_string(config.instances_max) +
                                     " is reached; destroy some, or raise it in the driver config")
        .about(HOSTLER_SCOPE_ACCOUNT)
        .quota(config.instances_max, used);
  const std::string& type = spec.record.provider_type;
  const auto limits = config.types.find(type);
  const std::vector<std::string> wanted =
      spec.zone.empty() ? config.zones : std::vector<std::string>{spec.zone};
  if (limits == config.types.end()) return wanted.front();
  std::int64_t all = 0;
  std::map<std::string, std::int64_t> in_zone;
  for (const auto& other : others) {
    if (other->provider_type != type) continue;
    ++all;
    ++in_zone[other->zone];
  }
  if (limits->second.stock && all >= *limits->second.stock)
    throw Error(HOSTLER_E_CAPACITY, "no more " + type + " in stock")
        .about(HOSTLER_SCOPE_TYPE, type);
  for (const std::string& zone : wanted) {
    const auto stock = limits->second.stock_in.find(zone);
    if (stock == limits->second.stock_in.end() || in_zone[zone] < stock->second) return zone;
  }
  Error error(HOSTLER_E_CAPACITY, "no more " + type + " in stock in " +
                                      (spec.zone.empty() ? "any zone" : "zone " + spec.zone));
  error.about(HOSTLER_SCOPE_TYPE, type);
  if (!spec.zone.empty()) error.about(HOSTLER_SCOPE_ZONE, spec.zone);
  throw error;
}

std::string sshd_config(const InstanceFolder& published, const Record& record) {
  return "# Written by the driver.\n"
         "Include " +
         published.sshd_boot_config() +
         "\n"
         "ListenAddress " +
         record.address + ":" + std::to_string(record.port) +
         "\n"
         "HostKey " +
         published.host_key() +
         "\n"
         "AuthorizedKeysFile " +
         published.authorized_keys() +
         "\n"
         "PidFile none\n"
         "StrictModes no\n"
         "UsePAM no\n"
         "UseDNS no\n"
         "PermitRootLogin prohibit-password\n"
         "PasswordAuthentication no\n"
         "KbdInteractiveAuthentication no\n"
         "PermitUserRC no\n"
         "PrintMotd no\n"
         "PrintLastLog no\n"
         "MaxStartups 1000:30:2000\n"
         "Subsystem sftp internal-sftp\n";
}

}  // namespace hostler::local
