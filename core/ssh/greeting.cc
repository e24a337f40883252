#include "core/ssh/greeting.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/base/text.h"

namespace hostler::ssh {
namespace {

constexpr std::size_t kKept = 4096;
constexpr char kKexInit = 20;

std::optional<std::size_t> take_u32(std::string_view& in) {
  if (in.size() < 4) return std::nullopt;
  std::size_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8U | static_cast<std::uint8_t>(in[i]);
  in.remove_prefix(4);
  return value;
}

std::optional<std::string_view> take_list(std::string_view& in) {
  const auto size = take_u32(in);
  if (!size || *size > in.size()) return std::nullopt;
  const std::string_view list = in.substr(0, *size);
  in.remove_prefix(*size);
  return list;
}

bool usable(std::string_view algorithm) {
  return algorithm == "ssh-ed25519" || algorithm.starts_with("ecdsa-sha2-nistp");
}

/// Where the banner line begins; servers may send other lines before it (RFC 4253 section 4.2).
std::size_t banner_at(std::string_view bytes) {
  if (bytes.starts_with("SSH-")) return 0;
  const std::size_t at = bytes.find("\nSSH-");
  return at == std::string_view::npos ? at : at + 1;
}

}  // namespace

void Greeting::add(std::string_view bytes) {
  bytes_ += bytes.substr(0, kKept - std::min(kKept, bytes_.size()));
}

std::string_view Greeting::banner() const {
  const std::string_view all = bytes_;
  const std::size_t from = banner_at(all);
  if (from == std::string_view::npos) return {};
  const std::size_t to = all.find('\n', from);
  if (to == std::string_view::npos) return {};
  std::string_view line = all.substr(from, to - from);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string> Greeting::host_key_algorithms() const {
  std::string_view in = bytes_;
  const std::size_t from = banner_at(in);
  if (from == std::string_view::npos) return {};
  const std::size_t line = in.find('\n', from);
  if (line == std::string_view::npos) return {};
  in.remove_prefix(line + 1);
  // The packet: u32 length, u8 padding, u8 message, cookie[16], name-list kex, name-list host keys
  if (!take_u32(in) || in.size() < 18 || in[1] != kKexInit) return {};
  in.remove_prefix(18);
  const auto kex = take_list(in);
  const auto keys = kex ? take_list(in) : std::nullopt;
  if (!keys) return {};
  std::vector<std::string> out;
  for (const std::string_view name : split(*keys, ',')) out.emplace_back(name);
  return out;
}

std::string Greeting::explain() const {
  if (bytes_.empty())
    return "the peer sent no SSH banner; is sshd running, or is its MaxStartups reached?";
  if (banner().empty()) return "the peer is no SSH server: it sent '" + printable(bytes_, 80) + "'";
  const std::vector<std::string> algorithms = host_key_algorithms();
  if (algorithms.empty() || std::ranges::any_of(algorithms, usable)) return {};
  std::string names;
  for (const std::string& name : algorithms) names += (names.empty() ? "" : ", ") + name;
  return "the server offers host keys of " + printable(names, 200) +
         " only, hostler needs ed25519 or ecdsa (libssh2 has no RSA with SHA-2): create one with "
         "ssh-keygen -A and add its HostKey line to sshd_config";
}

}  // namespace hostler::ssh
