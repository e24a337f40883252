#include "chaos.h"

namespace chaos {
namespace {

/// What a driver that was built with ABI 1.1 finds of it in the host.
const char* growth([[maybe_unused]] const hostler_op* op,
                   [[maybe_unused]] const hostler_quota_group_req* r) {
#ifdef HOSTLER_CREATE_DRY_RUN
  const bool in_op = HOSTLER_HAS(op, hostler_op, grown);
  const bool in_request = HOSTLER_HAS(r, hostler_quota_group_req, grown);
  return in_op && in_request ? "op and request"
         : in_op             ? "op"
         : in_request        ? "request"
                             : "neither op nor request";
#else
  return "this is 1.0";
#endif
}

const hostler_ext_quota_group kQuotaGroup = {
    sizeof kQuotaGroup, 0,
    [](hostler_set* s, const hostler_quota_group_req* r, hostler_op* op) -> hostler_status {
      begin(s->word, s->gate, "group");
      auto group = hostler::driver::quota_group_record();
      if (s->word == "group_none") return HOSTLER_OK;
      group.name = r->type->provider_type;
      if (s->word.starts_with("group of ")) {
        const std::string sized(std::stoul(s->word.substr(9)), 'g');
        group.name = str(sized);
        op->emit(op, reinterpret_cast<const hostler_rec*>(&group));
        return HOSTLER_OK;
      }
      const std::string next = "group-" + std::to_string(s->groups++);
      if (s->word == "group_changes") group.name = str(next);
      if (s->word == "group_of_growth") group.name = str(growth(op, r));
      for (int i = s->word == "group_two" ? 0 : 1; i < 2; ++i)
        op->emit(op, reinterpret_cast<const hostler_rec*>(&group));
      return HOSTLER_OK;
    }};
const hostler_ext_host_key kHostKey = {
    sizeof kHostKey, 0, [](hostler_set* s, const hostler_verify_req* r, hostler_op* op) {
      begin(s->word, s->gate, "verify");
      return view(r->key_algo) == "ssh-ed25519"
                 ? HOSTLER_OK
                 : fails(op, HOSTLER_E_KEY_MISMATCH, "that is another key");
    }};
/// Emits a price; the word gives the length of the zone's name: "zone of 63".
const hostler_ext_price_history kPrices = {
    sizeof kPrices, 0, [](hostler_set* s, const hostler_price_req*, hostler_op* op) {
      begin(s->word, s->gate, "history");
      const bool names_zone = s->word.starts_with("zone of ");
      const std::string zone(names_zone ? std::stoul(s->word.substr(8)) : 1, 'z');
      hostler_price price{};
      price.struct_size = sizeof price;
      price.kind = HOSTLER_REC_PRICE;
      price.zone = str(zone);
      price.market = HOSTLER_MARKET_ON_DEMAND;
      if (s->word == "negative_price") price.price_micros_per_hour = -1;
      if (s->word == "huge_price") price.price_micros_per_hour = INT64_MAX;
      op->emit(op, reinterpret_cast<const hostler_rec*>(&price));
      return HOSTLER_OK;
    }};

}  // namespace

const void* extension(std::string_view id) {
  if (id == HOSTLER_EXT_QUOTA_GROUP) return &kQuotaGroup;
  if (id == HOSTLER_EXT_PRICE_HISTORY) return &kPrices;
  return id == HOSTLER_EXT_HOST_KEY ? &kHostKey : draft_extension(id);
}

}  // namespace chaos
