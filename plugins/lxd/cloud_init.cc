#include "cloud_init.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string_view>

namespace hostler::lxd {
namespace {

using driver::Error;
using driver::view;

constexpr const char* kSetBootId =
    "mkdir -p /etc/ssh/sshd_config.d && echo SetEnv \"HOSTLER_BOOT_ID=$(cat "
    "/proc/sys/kernel/random/uuid)\" >/etc/ssh/sshd_config.d/hostler.conf";

std::string line_of(const hostler_str& from, const char* what) {
  std::string_view line = view(from);
  while (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  if (line.find('\n') != std::string_view::npos)
    throw Error(HOSTLER_E_INVALID, std::string(what) + " has more than one line");
  return std::string(line);
}

}  // namespace

std::string vendor_data(const hostler_create_req& request) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);  // JSON is YAML
  const auto put = [&](std::string_view text) {
    json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  };
  json.StartObject();
  put("disable_root");
  json.Bool(false);
  put("ssh_authorized_keys");
  json.StartArray();
  for (std::size_t i = 0; i < request.n_ssh_public_keys; ++i)
    put(line_of(request.ssh_public_keys[i], "an ssh_public_key"));
  json.EndArray();
  if ((request.ssh_host_key_private.len != 0) != (request.ssh_host_key_public.len != 0))
    throw Error(HOSTLER_E_INVALID, "ssh_host_key_private and _public need each other");
  if (request.ssh_host_key_private.len != 0) {
    put("ssh_keys");
    json.StartObject();
    put("ed25519_private");
    put(view(request.ssh_host_key_private));
    put("ed25519_public");
    put(line_of(request.ssh_host_key_public, "ssh_host_key_public"));
    json.EndObject();
  }
  put("bootcmd");
  json.StartArray();
  put(kSetBootId);
  json.EndArray();
  json.EndObject();
  return "#cloud-config\n" + std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

}  // namespace hostler::lxd
