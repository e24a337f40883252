// LXD sells nothing: the list of sizes is the site's, and LXD says which of them it has room for.
#include <set>

#include "lxd_set.h"
#include "with_context.h"

namespace hostler::lxd {

using driver::str;

namespace {

/// What LXD says at `path`, read by `read`; nothing where this client may not ask, or LXD does not
/// know.
template <class Read>
void if_it_says(const Api& api, const std::string& path, hostler_op* op, const Read& read) {
  try {
    read(api.get(path, op).metadata());
  } catch (const Refused&) {
    return;
  }
}

void emit_offering(const Size& size, const Place& place, const Config& config,
                   std::uint32_t available, hostler_op* op) {
  auto out = driver::offering_record();
  out.provider_type = str(size.name);
  out.region = str(config.region);
  out.zone = str(place.zone);
  out.architecture = str(place.architecture);
  out.price_micros_per_hour = size.price_micros;
  out.ram_bytes = static_cast<std::uint64_t>(size.ram_bytes);
  out.scratch_bytes = static_cast<std::uint64_t>(size.scratch_bytes);
  out.vcpus = static_cast<std::uint32_t>(size.vcpus);
  out.market = HOSTLER_MARKET_ON_DEMAND;
  out.available = available;
  driver::emit(op, out);
}

}  // namespace

std::vector<Place> LxdSet::places(hostler_op* op) const {
  std::vector<Place> out;
  const auto ask = [&](Place place) {
    const std::string target = place.zone.empty() ? "" : "?target=" + encoded(place.zone);
    if (place.is_on)
      if_it_says(api_, "/1.0/resources" + target, op,
                 [&](const Value& resources) { read_resources(resources, place); });
    out.push_back(std::move(place));
  };
  if (!is_clustered_) {
    ask({"", architecture_, true, {}, {}});
    return out;
  }
  const Answer answer = api_.get("/1.0/cluster/members?recursion=1", op);
  if (!answer.metadata().IsArray()) throw_not_lxd("the members of the cluster are no list");
  for (const Value& member : answer.metadata().GetArray()) {
    const std::string name = text_of(member, "server_name");
    if (name.empty()) throw_not_lxd("a member of a cluster without a name");
    ask({name, text_of(member, "architecture"), text_of(member, "status") == "Online", {}, {}});
  }
  return out;
}

ProjectRoom LxdSet::project_room(hostler_op* op) const {
  ProjectRoom out;
  if_it_says(api_, project_path() + "/state", op,
             [&](const Value& state) { out = read_project_state(state); });
  return out;
}

void LxdSet::offerings(const hostler_offerings_req& request, hostler_op* op) {
  std::set<std::string> wanted;
  for (std::size_t i = 0; i < request.n_provider_types; ++i)
    wanted.insert(text(request.provider_types[i]));
  if (request.market == HOSTLER_MARKET_SPOT || config_.sizes.empty()) return;
  with_context("read what this LXD has room for", [&] {
    const std::vector<Place> all = places(op);
    const ProjectRoom room = project_room(op);
    for (const Size& size : config_.sizes) {
      if (!wanted.empty() && wanted.count(size.name) == 0) continue;
      for (const Place& place : all)
        emit_offering(size, place, config_, availability(size, place, room), op);
    }
  });
}

}  // namespace hostler::lxd
