#include "leftovers.h"

#include <hostler/driver.hpp>

#include "api.h"
#include "names.h"
#include "with_context.h"

namespace hostler::lxd {
namespace {

using driver::view;

/// What volumes and profiles have in common.
Leftover read(const Value& value, const char* type) {
  Leftover out;
  out.type = type;
  out.id = text_of(value, "name");
  const Value* const config = object_of(value, "config");
  if (out.id.empty() || config == nullptr)
    throw_not_lxd(std::string("a ") + type + " without a name or a config");
  const auto users = value.FindMember("used_by");
  out.is_used = users == value.MemberEnd() || !users->value.IsArray() || !users->value.Empty();
  out.created_unix_ns = read_time_ns(text_of(value, "created_at"));
  read_tags(*config, out.tags);
  const std::string key = out.tag("hostler-key");
  if (!key.empty()) out.instance_id = name_of_key(key);
  return out;
}

}  // namespace

std::string Leftover::tag(const std::string& name) const {
  const auto found = tags.find(name);
  return found == tags.end() ? std::string() : found->second;
}

bool Leftover::has_all(const hostler_leftover_list_req& request) const {
  for (std::size_t i = 0; i < request.n_tag_filter; ++i)
    if (tag(text(request.tag_filter[i].key)) != view(request.tag_filter[i].value)) return false;
  return true;
}

Leftover read_volume(const Value& value, const std::string& pool) {
  Leftover out = read(value, kVolume);
  const std::string member = text_of(value, "location");
  out.id = pool + "/" + out.id;
  if (!member.empty() && member != "none") out.id += "/" + member;
  return out;
}

Leftover read_profile(const Value& value) { return read(value, kProfile); }

std::string path_of_leftover(const std::string& type, const std::string& id) {
  if (type == kProfile && !id.empty()) return "/1.0/profiles/" + encoded(id);
  const std::size_t name = id.find('/');
  if (type != kVolume || name == 0 || name == std::string::npos || name + 1 == id.size())
    throw driver::Error(HOSTLER_E_INVALID, "LXD has no " + type + " \"" + id + "\"");
  const std::size_t member = id.find('/', name + 1);
  std::string path = "/1.0/storage-pools/" + encoded(id.substr(0, name)) + "/volumes/custom/" +
                     encoded(id.substr(name + 1, member - name - 1));
  if (member == std::string::npos) return path;
  return path + "?target=" + encoded(id.substr(member + 1));
}

}  // namespace hostler::lxd
