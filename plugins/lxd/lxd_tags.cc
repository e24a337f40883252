#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "lxd_set.h"
#include "names.h"

namespace hostler::lxd {
namespace {

/// A PATCH of the config. It removes a description that it does not have.
std::string patch_of(const Tags& tags, const std::string& description) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartObject();
  json.Key("description");
  json.String(description.data(), static_cast<rapidjson::SizeType>(description.size()));
  json.Key("config");
  json.StartObject();
  for (const auto& [name, value] : tags) {
    json.Key((std::string(kTag) + name).c_str());
    json.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  json.EndObject();
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace

void LxdSet::set_tags(const hostler_set_tags_req& request, hostler_op* op) {
  const std::string id(driver::view(request.id));
  const Tags wanted = read_tags(request.set, request.n_set);
  try {
    const Instance found = find_ours(request.id, {}, op);
    if (!wanted.empty())
      api_.change("PATCH", Api::instance(id), patch_of(wanted, found.description), op);
  } catch (const Refused& refused) {
    throw refusal_error(refused, "change tags of " + id);
  }
}

}  // namespace hostler::lxd
