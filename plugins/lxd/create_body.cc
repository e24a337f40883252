#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "create.h"

namespace hostler::lxd {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

/// Or the beginning of one.
bool is_image_fingerprint(const std::string& image) {
  return image.size() >= 12 && image.size() <= 64 &&
         image.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void put(Writer& json, const char* key, const std::string& value) {
  json.Key(key);
  json.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
}

void put(Writer& json, const char* key, const std::map<std::string, std::string>& pairs) {
  json.Key(key);
  json.StartObject();
  for (const auto& [name, value] : pairs) put(json, name.c_str(), value);
  json.EndObject();
}

}  // namespace

std::string body_of(const CreateSpec& spec, const Devices& own_devices) {
  rapidjson::StringBuffer buffer;
  Writer json(buffer);
  json.StartObject();
  put(json, "name", spec.name);
  put(json, "type", "container");
  put(json, "description", spec.description);
  json.Key("profiles");
  json.StartArray();
  for (const std::string& profile : spec.profiles) json.String(profile.c_str());
  json.EndArray();
  put(json, "config", spec.keys);
  if (!own_devices.empty()) {
    json.Key("devices");
    json.StartObject();
    for (const auto& [name, device] : own_devices) put(json, name.c_str(), device);
    json.EndObject();
  }
  json.Key("source");
  json.StartObject();
  put(json, "type", "image");
  put(json, is_image_fingerprint(spec.image) ? "fingerprint" : "alias", spec.image);
  json.EndObject();
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace hostler::lxd
