#include "sdk/hosts/command/ask.h"

#include <hostler/hosts.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "sdk/hosts/command/connection_file.h"
#include "sdk/hosts/system/failure.h"
#include "sdk/hosts/system/files.h"

namespace hostler::machines {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

constexpr std::size_t kFileMax = std::size_t{512} * 1024;

void put_member(Writer& writer, const char* name, const std::string& text) {
  writer.Key(name);
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void put_keys(Writer& writer, const std::vector<std::string>& files) {
  writer.Key("authorized_keys");
  writer.StartArray();
  for (const std::string& file : files) {
    std::string rest = read_file(file, kFileMax);
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      const std::string line = rest.substr(0, end);
      rest.erase(0, end == std::string::npos ? rest.size() : end + 1);
      if (!line.empty() && line[0] != '#')
        writer.String(line.data(), static_cast<rapidjson::SizeType>(line.size()));
    }
  }
  writer.EndArray();
}

void put_create(Writer& writer, const Options& options) {
  put_member(writer, "key", options.key);
  if (!options.key_files.empty()) put_keys(writer, options.key_files);
  if (!options.host_key_file.empty())
    put_member(writer, "host_key", read_file(options.host_key_file, kFileMax));
  if (!options.user_data_file.empty())
    put_member(writer, "user_data", read_file(options.user_data_file, kFileMax));
  if (options.tags.empty()) return;
  writer.Key("tags");
  writer.StartObject();
  for (const auto& [key, value] : options.tags) put_member(writer, key.c_str(), value);
  writer.EndObject();
}

std::string request_of(const Options& options, const std::string& token) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  put_member(writer, "token", token);
  put_member(writer, "op", options.command);
  if (!options.id.empty()) put_member(writer, "id", options.id);
  if (options.command == "create") put_create(writer, options);
  writer.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace

int ask(const Options& options) {
  const KeeperAddress keeper = read_connection_file(options.folder);
  const std::string request = request_of(options, keeper.token);
  constexpr std::size_t kAnswerMax = std::size_t{128} << 20;
  char* answer = nullptr;
  const int failed =
      hostler_hosts_call(keeper.endpoint.c_str(), request.c_str(), kAnswerMax, &answer);
  const std::unique_ptr<char, void (*)(void*)> owner(answer, std::free);
  if (failed != 0)
    throw Failure("internal", "the keeper at " + keeper.endpoint +
                                  " does not answer: " + hostler_hosts_text(failed));
  std::printf("%s\n", answer);
  return std::string(answer).compare(0, 11, "{\"ok\":true,") == 0 ||
                 std::string(answer) == "{\"ok\":true}"
             ? 0
             : 1;
}

}  // namespace hostler::machines
