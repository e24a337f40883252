#include "leftovers.h"
#include "lxd_set.h"
#include "record_lists.h"
#include "with_context.h"

namespace hostler::lxd {
namespace {

using driver::Error;
using driver::str;
using driver::view;

/// Calls `each` with the items of a list of LXD.
template <class Each>
void for_each(const Answer& answer, const char* what, const Each& each) {
  if (!answer.metadata().IsArray()) throw_not_lxd(std::string("the ") + what + " are no list");
  for (const Value& one : answer.metadata().GetArray()) each(one);
}

void emit_leftover(const Leftover& thing, hostler_op* op) {
  auto out = driver::leftover_record();
  const auto tags = driver::to_abi(thing.tags);
  out.type = str(thing.type);
  out.id = str(thing.id);
  out.instance_id = str(thing.instance_id);
  out.tags = tags.data();
  out.n_tags = tags.size();
  out.created_unix_ns = thing.created_unix_ns;
  driver::emit(op, out);
}

}  // namespace

void LxdSet::add_volumes(std::vector<Leftover>& to, hostler_op* op) const {
  const Answer pools = api_.get("/1.0/storage-pools?recursion=1", op);
  for_each(pools, "storage pools", [&](const Value& pool) {
    const std::string name = text_of(pool, "name");
    if (name.empty()) throw_not_lxd("a storage pool without a name");
    const std::string path = "/1.0/storage-pools/" + encoded(name) + "/volumes/custom?recursion=1";
    const Answer volumes = api_.get(path, op);
    for_each(volumes, "volumes", [&](const Value& volume) {
      // A snapshot, "VOLUME/SNAPSHOT", goes with its volume.
      if (text_of(volume, "name").find('/') == std::string::npos)
        to.push_back(read_volume(volume, name));
    });
  });
}

/// Of this project: others may be those of the default project, where this client may change
/// nothing.
std::vector<Leftover> LxdSet::volumes_and_profiles(hostler_op* op) const {
  std::vector<Leftover> out;
  const Answer project = api_.get(project_path(), op);
  const Value* const config = object_of(project.metadata(), "config");
  if (config == nullptr) throw_not_lxd("a project without a config");
  if (text_of(*config, "features.storage.volumes") == "true") add_volumes(out, op);
  if (text_of(*config, "features.profiles") != "true") return out;
  const Answer profiles = api_.get("/1.0/profiles?recursion=1", op);
  for_each(profiles, "profiles",
           [&](const Value& profile) { out.push_back(read_profile(profile)); });
  return out;
}

void LxdSet::list_leftovers(const hostler_leftover_list_req& request, hostler_op* op) {
  with_context("list volumes and profiles of project " + config_.project, [&] {
    for (const Leftover& one : volumes_and_profiles(op))
      if (!one.is_used && !one.tag("hostler-set").empty() && one.has_all(request))
        emit_leftover(one, op);
  });
}

void LxdSet::destroy_leftover(const hostler_leftover_destroy_req& request, hostler_op* op) {
  const std::string type = text(request.type), id = text(request.id);
  const std::string path = path_of_leftover(type, id), what = type + " " + id;
  with_context("delete " + what, [&] {
    const auto answer = api_.find(path, op);
    if (!answer) return;
    const Value& value = answer->metadata();
    const Leftover found = type == kProfile ? read_profile(value) : read_volume(value, "");
    const std::string set = found.tag("hostler-set");
    if (set.empty() || (request.expected_set_id.len != 0 && set != view(request.expected_set_id)))
      throw Error(HOSTLER_E_CONFLICT,
                  what + " belongs to " + (set.empty() ? "no set of hostler" : "the set " + set));
    if (found.is_used) throw Error(HOSTLER_E_CONFLICT, what + " is in use");
    try {
      api_.change("DELETE", path, "", op);
    } catch (const Refused& refused) {  // somebody else was faster?
      if (!says_missing(refused)) throw;
    }
  });
}

}  // namespace hostler::lxd
