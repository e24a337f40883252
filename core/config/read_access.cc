#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/base/trusted_file.h"
#include "core/config/readers.h"

namespace hostler::config {
namespace {

constexpr std::size_t kSocketPathMax = 107;  // of sockaddr_un::sun_path
constexpr std::array kRoles{json::Word<std::string_view>{"admin", "admin"},
                            json::Word<std::string_view>{"submit", "submit"},
                            json::Word<std::string_view>{"read", "read"},
                            json::Word<std::string_view>{"scaler", "scaler"}};
constexpr std::size_t kPoolsMax = 1000;

bool is_numeric_address(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef:.") == std::string::npos &&
         text.find_first_of(".:") != std::string::npos;
}

void read_mode(const json::Field& field, unsigned& out) {
  std::string text;
  if (!field.text(text, {.bytes_max = 8})) return;
  const auto mode = parse_mode(text);
  if (!mode || *mode > 0777 || (*mode & 0600U) != 0600U)
    field.refuse(
        "a mode in octal digits with read and write permission for the owner, e.g. \"0660\"");
  else
    out = *mode;
}

void read_socket(json::Object& o, const Context& context, Access& out) {
  const json::Field path = o.may("path");
  if (read_path(path, context, out.socket_path) && out.socket_path.size() > kSocketPathMax)
    path.problem("the path " + out.socket_path + " has " + std::to_string(out.socket_path.size()) +
                 " bytes, allowed: at most " + std::to_string(kSocketPathMax));
  read_mode(o.may("mode"), out.socket_mode);
  o.may("group").text(out.socket_group, {.bytes_max = 64, .bytes_min = 1, .one_line = true});
}

/// The pools for which a scheduler may push.
void read_token_pools(json::Object& o, Token& out) {
  if (out.role != "scaler") {
    o.may("pools").problem("only a token with the role scaler has pools: remove one of the two");
    return;
  }
  const json::Field pools = o.need("pools");
  if (pools.names(out.pools, kPoolsMax) && out.pools.empty())
    pools.problem("found no pool, allowed: at least one");
}

/// Parses a tokens file: {"tokens": [{"name": "ci", "role": "submit", "sha256": "..."}]}
Result<std::vector<Token>> read_tokens(const std::string& text) {
  std::vector<Token> tokens;
  std::set<std::string> names;
  const auto read_token = [&](json::Object& o) {
    Token& token = tokens.emplace_back();
    const json::Field name = o.need("name");
    if (name.name(token.name)) claim_name(name, token.name, names);
    std::string_view role;
    if (o.need("role").word(role, kRoles)) token.role = role;
    read_token_pools(o, token);
    const json::Field digest = o.need("sha256");
    if (!digest.text(token.sha256, {.bytes_max = 64, .secret = true})) return;
    const auto bytes = from_hex(token.sha256);
    if (!bytes || bytes->size() != 32 || to_hex(*bytes) != token.sha256)
      digest.problem("not a SHA-256, allowed: 64 digits of 0-9 a-f");
  };
  HOSTLER_TRY(json::read_object(text, {.comments = true}, [&](json::Object& o) {
    o.need("tokens").each(1000, [&](const json::Field& token) { token.object(read_token); });
  }));
  return tokens;
}

void read_tcp(json::Object& o, const Context& context, Access& out) {
  out.tcp_address = "127.0.0.1";
  const json::Field address = o.may("address");
  if (address.text(out.tcp_address, {.bytes_max = 64}) && !is_numeric_address(out.tcp_address))
    address.refuse("a numeric address, e.g. \"127.0.0.1\" or \"::1\"");
  o.need("port").integer(out.tcp_port, 1, 65535);

  std::string file, content;
  const json::Field tokens_file = o.need("tokens_file");
  if (read_secret(tokens_file, context, file, content)) {
    auto tokens = read_tokens(content);
    if (tokens)
      out.tokens = *std::move(tokens);
    else
      tokens_file.problem(file + ": " + tokens.error().message);
  }

  const json::Field certificate = o.may("tls_certificate_file");
  const json::Field key = o.may("tls_key_file");
  if (read_path(certificate, context, out.tls_certificate_file) && context.options.read_files &&
      context.options.trusted_only)
    if (const auto trusted = open_trusted(out.tls_certificate_file); !trusted)
      certificate.problem(trusted.error().message);
  std::string private_key;
  read_secret(key, context, out.tls_key_file, private_key);
  if (certificate.present() != key.present())
    (certificate.present() ? certificate : key)
        .problem("tls_certificate_file and tls_key_file need each other; one of them is missing");
  if (is_numeric_address(out.tcp_address) && !is_loopback(out.tcp_address) &&
      !certificate.present())
    json::Field(o.value(), o.problems())
        .problem("address " + printable(out.tcp_address, 64) +
                 " is not a loopback address, so it needs tls_certificate_file and tls_key_file");
}

}  // namespace

bool is_loopback(const std::string& address) {
  return address == "::1" || (is_numeric_address(address) && address.starts_with("127."));
}

void read_access(json::Object& o, const Context& context, Access& out) {
  o.may("socket").object([&](json::Object& socket) { read_socket(socket, context, out); });
  o.may("tcp").object([&](json::Object& tcp) { read_tcp(tcp, context, out); });
}

void check_token_pools(json::Object& o, const Config& config) {
  // Otherwise what follows may be about problems that were told.
  if (!o.problems().ok()) return;
  std::set<std::string> pushed;
  std::string all;
  for (const model::PoolPolicy& pool : config.site.pools)
    if (pool.pushed && pushed.insert(pool.name).second)
      all += (all.empty() ? "" : ", ") + pool.name;
  for (const Token& token : config.access.tokens)
    for (const std::string& pool : token.pools)
      if (!pushed.contains(pool))
        json::Field(o.value().at("access").at("tcp").at("tokens_file"), o.problems())
            .problem("token \"" + token.name + "\" has the pool \"" + pool +
                     "\", which is not a configured pool with `pushed`, allowed: " +
                     (all.empty() ? "none are configured" : printable(all, 300)));
}

}  // namespace hostler::config
