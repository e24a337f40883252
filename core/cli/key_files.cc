#include "core/cli/key_files.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/cli/work_text.h"

namespace hostler::cli {
namespace {

constexpr std::string_view kPublic = ".pub";
/// The names that ssh gives them; RSA is last, since old keys are too small.
constexpr std::array<const char*, 5> kDefaultNames{"id_ed25519", "id_ecdsa", "id_ed25519_sk",
                                                   "id_ecdsa_sk", "id_rsa"};

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

Result<std::string> default_key_file() {
  const char* home = std::getenv("HOME");
  const std::string folder = std::string(home == nullptr ? "" : home) + "/.ssh/";
  for (const char* name : kDefaultNames)
    if (const std::string path = folder + name + std::string(kPublic); exists(path)) return path;
  return fail(Errc::kInvalidArgument,
              "found no public key in " + folder +
                  ": name its file with --ssh-key (ssh-keygen -t ed25519 makes one)");
}

Result<std::vector<std::string>> read_key_files(const std::vector<std::string>& files) {
  constexpr std::size_t kBytesMax = 1 << 20;
  std::vector<std::string> out;
  for (const auto& file : files) {
    const auto text = read_file(file, kBytesMax);
    if (!text) return fail(Errc::kInvalidArgument, "--ssh-key: " + text.error().message);
    if (text->find("PRIVATE KEY") != std::string::npos)
      return fail(Errc::kInvalidArgument,
                  "--ssh-key: " + file +
                      " has a private key, which stays with you: name the file with .pub");
    for (std::string_view line : split(*text, '\n')) {
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty() || line.starts_with('#')) continue;
      out.push_back(HOSTLER_TRY(argument_text("--ssh-key " + file, std::string(line))));
    }
  }
  return out;
}

std::vector<std::string> identities_of(const std::vector<std::string>& files) {
  std::vector<std::string> out;
  for (const auto& file : files) {
    std::string own = file.ends_with(kPublic) ? file.substr(0, file.size() - kPublic.size()) : file;
    if (!exists(own)) own = file;
    out.push_back(std::move(own));
  }
  return out;
}

}  // namespace hostler::cli
