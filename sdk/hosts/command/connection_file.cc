#include "sdk/hosts/command/connection_file.h"

#include <rapidjson/document.h>
#include <sys/random.h>

#include <array>
#include <cstdlib>

#include "sdk/hosts/system/failure.h"
#include "sdk/hosts/system/files.h"

namespace hostler::machines {

KeeperAddress read_connection_file(const std::string& folder) {
  const char* named = std::getenv("HOSTLER_HOSTS");
  std::string path = folder + "/" + kConnectionFile;
  if (folder.empty()) path = named != nullptr ? named : "";
  if (path.empty())
    throw Failure("usage", "which keeper? Give --folder, or set HOSTLER_HOSTS to its hosts.json");
  if (!is_there(path))
    throw Failure("internal",
                  "there is no keeper: " + path + " does not exist. Start `hostler-hosts serve`");
  const std::string text = read_file(path, 4096);
  rapidjson::Document document;
  document.Parse(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject() || !document.HasMember("endpoint") ||
      !document["endpoint"].IsString() || !document.HasMember("token") ||
      !document["token"].IsString())
    throw Failure("internal", path + " is not the connection file of a keeper");
  return {document["endpoint"].GetString(), document["token"].GetString()};
}

void write_connection_file(int folder, const KeeperAddress& address) {
  // Both are text without characters that JSON would escape.
  write_file(kConnectionFile,
             R"({"endpoint":")" + address.endpoint + R"(","token":")" + address.token + "\"}\n",
             0600, folder);
}

std::string new_token() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    fail_errno("get random bytes");
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

}  // namespace hostler::machines
