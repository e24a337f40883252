#include <algorithm>

#include "core/base/text.h"
#include "core/config/readers.h"
#include "core/crypto/ssh_keys.h"

namespace hostler::config {
namespace {

void read_host_key(const json::Field& field, std::string& out) {
  std::string line;
  if (!field.text(line, {.bytes_max = 1024, .bytes_min = 1, .one_line = true})) return;
  const auto key = crypto::parse_public_key(line);
  const auto usable = key ? crypto::require_usable(*key) : tl::unexpected(key.error());
  if (usable)
    out = key->line();
  else
    field.problem(usable.error().message +
                  "; ssh-keyscan prints lines \"HOST TYPE KEY\": check "
                  "the key, and give \"TYPE KEY\"");
}

}  // namespace

bool parse_address(std::string_view text, std::string& host_out, std::uint16_t& port_out) {
  std::string_view host = text, port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port.front() != ':') return false;
  } else if (std::ranges::count(text, ':') == 1) {
    host = text.substr(0, text.find(':'));
    port = text.substr(text.find(':'));
  }
  if (!is_host(host)) return false;
  host_out = host;
  if (port.empty()) return true;
  const auto number = parse_u64(port.substr(1));
  if (!number || *number < 1 || *number > 65535) return false;
  port_out = static_cast<std::uint16_t>(*number);
  return true;
}

std::string Proxy::name() const {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
         std::to_string(port);
}

void read_user_keys(const json::Field& field, const Context& context, std::vector<UserKey>& out) {
  field.each(16, [&](const json::Field& element) {
    UserKey& key = out.emplace_back();
    if (!read_secret(element, context, key.file, key.private_key)) return;
    const auto read = crypto::parse_private_key(key.private_key);
    if (read)
      key.public_key = read->line();
    else
      element.problem(key.file + ": " + read.error().message);
  });
}

void read_proxy(const json::Field& field, const Context& context, std::optional<Proxy>& out) {
  field.object([&](json::Object& o) {
    Proxy& proxy = out.emplace();
    const json::Field address = o.need("address");
    std::string text;
    if (address.text(text, {.bytes_max = kHostBytesMax + 8, .bytes_min = 1, .one_line = true}) &&
        !parse_address(text, proxy.host, proxy.port))
      address.refuse("a name or an address, with a port if it is not 22: \"bastion.example:2222\"");
    o.need("user").text(proxy.user, {.bytes_max = 32, .bytes_min = 1, .one_line = true});
    read_user_keys(o.may("user_key_files"), context, proxy.user_keys);
    read_host_key(o.need("host_key"), proxy.host_key);
  });
}

}  // namespace hostler::config
