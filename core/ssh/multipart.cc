#include "core/ssh/multipart.h"

#include <algorithm>
#include <array>

#include "core/crypto/base64.h"

namespace hostler::ssh {
namespace {

/// Python's parser, which cloud-init uses, damages what is not ASCII but in base64.
std::string part(std::string_view header, std::string_view body) {
  const bool is_ascii =
      std::ranges::all_of(body, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  std::string out(header);
  out += is_ascii ? "Content-Transfer-Encoding: 7bit\n\n" : "Content-Transfer-Encoding: base64\n\n";
  return out.append(is_ascii ? std::string(body) : crypto::to_base64(body)) + "\n";
}

}  // namespace

std::string make_multipart(std::string_view cloud_config, std::string_view script) {
  // cloud-init runs scripts in the order of their names, and that of runcmd is "runcmd".
  const std::array<std::string, 2> parts{
      part("Content-Type: text/cloud-config; charset=\"utf-8\"\n", cloud_config),
      part("Content-Type: text/x-shellscript; charset=\"utf-8\"\n"
           "Content-Disposition: attachment; filename=\"z-hostler.sh\"\n",
           script)};
  std::string boundary = "HOSTLER_PART";
  for (const auto& one : parts)
    while (one.find(boundary) != std::string::npos) boundary += '_';
  std::string out =
      "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"" + boundary + "\"\n\n";
  for (const auto& one : parts) out += "--" + boundary + "\n" + one;
  return out + "--" + boundary + "--\n";
}

}  // namespace hostler::ssh
