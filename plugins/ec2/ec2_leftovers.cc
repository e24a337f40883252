// Volumes and network cards that outlived their instance, and key pairs that no create uses any
// more. All else that this driver makes goes with its instance, so that somebody has to have kept
// it, or EC2 has failed.
#include <algorithm>
#include <array>

#include "ec2_set.h"
#include "http/text.h"
#include "record_lists.h"

namespace hostler::ec2 {

using driver::Error;
using driver::str;
using driver::view;

namespace {

/// How EC2 lists and deletes one kind of things.
struct Kind {
  const char *type, *describe, *list, *id_field, *id_filter, *tags, *created, *remove, *id_key;
};

constexpr std::array kKinds{
    Kind{"volume", "DescribeVolumes", "volumeSet", "volumeId", "volume-id", "tagSet", "createTime",
         "DeleteVolume", "VolumeId"},
    Kind{"network-interface", "DescribeNetworkInterfaces", "networkInterfaceSet",
         "networkInterfaceId", "network-interface-id", "tagSet", "", "DeleteNetworkInterface",
         "NetworkInterfaceId"}};

constexpr const char* kKeyPair = "key-pair";

struct Leftover {
  std::string type, id;
  Tags tags;
  std::int64_t created_unix_ns = 0;
};

void emit_leftover(const Leftover& one, hostler_op* op) {
  const auto tags = driver::to_abi(one.tags);
  auto out = driver::leftover_record();
  out.type = str(one.type);
  out.id = str(one.id);
  out.tags = tags.data();
  out.n_tags = tags.size();
  out.created_unix_ns = one.created_unix_ns;
  driver::emit(op, out);
}

/// Those that belong to nothing now.
std::vector<Leftover> find_unattached(const Api& api, const Kind& kind, Query query,
                                      hostler_op* op) {
  std::vector<Leftover> out;
  api.each(
      query.add_filter("status", {"available"}), 500, kind.list,
      [&](const Node& item) {
        Leftover one{kind.type, text_of(item, kind.id_field), read_tag_set(item.child(kind.tags)),
                     http::read_time_ns(text_of(item, kind.created))};
        if (one.id.empty()) throw_not_amazon(std::string("a ") + kind.type + " without an id");
        one.tags.erase(kDigestTag);
        out.push_back(std::move(one));
      },
      op);
  return out;
}

/// Those that the set has made of another key than that of its creates, and those of a time before
/// key pairs had tags: nobody can tell whose these are, so each set names them.
std::vector<Leftover> find_key_pairs(const Api& api, KeyPairs& key_pairs, const Tags& tags,
                                     hostler_op* op) {
  const auto is_tagged = [&](const Leftover& one) {
    return std::all_of(tags.begin(), tags.end(), [&](const auto& tag) {
      const auto found = one.tags.find(tag.first);
      return found != one.tags.end() && found->second == tag.second;
    });
  };
  std::vector<Leftover> out;
  Query query("DescribeKeyPairs");
  api.each(
      query.add_pattern("key-name", {"hostler-*"}), 0, "keySet",
      [&](const Node& item) {
        Leftover one{kKeyPair, text_of(item, "keyName"), read_tag_set(item.child("tagSet")),
                     http::read_time_ns(text_of(item, "createTime"))};
        const bool is_old = one.tags.count(kSetTag) == 0 && is_shared_key_pair(one.id);
        if (is_old) one.tags = tags;
        if (is_old || (is_tagged(one) && key_pairs.is_left(one.id))) out.push_back(std::move(one));
      },
      op);
  return out;
}

}  // namespace

void Ec2Set::list_leftovers(const hostler_leftover_list_req& request, hostler_op* op) {
  with_context("list what outlived its instance", [&] {
    std::vector<Leftover> all =
        find_key_pairs(ec2_, key_pairs_, read_tags(request.tag_filter, request.n_tag_filter), op);
    for (const Kind& kind : kKinds) {
      Query query(kind.describe);
      for (std::size_t i = 0; i < request.n_tag_filter; ++i)
        query.add_filter("tag:" + text(request.tag_filter[i].key),
                         {text(request.tag_filter[i].value)});
      for (Leftover& one : find_unattached(ec2_, kind, query, op)) all.push_back(std::move(one));
    }
    for (const Leftover& one : all) emit_leftover(one, op);
  });
}

void Ec2Set::destroy_leftover(const hostler_leftover_destroy_req& request, hostler_op* op) {
  const std::string id = text(request.id);
  if (view(request.type) == kKeyPair)
    throw Error(HOSTLER_E_UNSUPPORTED, "the ec2 driver deletes no key pair: delete " + id +
                                           " in EC2's console if nobody logs in with it");
  const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& one) {
    return one.type == view(request.type);
  });
  if (kind == kKinds.end())
    throw Error(HOSTLER_E_UNSUPPORTED,
                "the ec2 driver knows no \"" + text(request.type) + "\" that could be left");
  with_context("delete the " + text(request.type) + " " + id, [&] {
    Query query(kind->describe);
    const auto found = find_unattached(ec2_, *kind, query.add_filter(kind->id_filter, {id}), op);
    if (found.empty()) return;  // it is gone, or something has it
    const auto set = found[0].tags.find(kSetTag);
    if (request.expected_set_id.len != 0 &&
        (set == found[0].tags.end() || set->second != view(request.expected_set_id)))
      throw Error(HOSTLER_E_CONFLICT, id + " does not belong to this set");
    try {
      ec2_.change(Query(kind->remove).add(kind->id_key, id), op);
    } catch (const Refused& refused) {
      if (!refused.says_missing()) throw;
    }
  });
}

}  // namespace hostler::ec2
