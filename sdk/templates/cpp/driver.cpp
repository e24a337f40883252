// The driver mycloud: what hostler asks for, in the words of the cloud. It keeps nothing in memory
// but its settings, so calls may come from many threads, and a new process goes on where one ended.
#include <hostler/driver.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cloud.hpp"

namespace {

namespace driver = hostler::driver;
using driver::Error;
using driver::str;
using driver::view;

// Law 6 of driver.h: what is asked for and cannot be done is refused, never left out.
void refuse_wishes(const hostler_create_req& r) {
  const auto params = view(r.type->provider_params_json);
  if (!params.empty() && params != "{}")
    throw Error(HOSTLER_E_UNSUPPORTED, "provider_params is not for this driver: it knows none");
  const char* const wish =
      r.market == HOSTLER_MARKET_SPOT || r.type->market == HOSTLER_MARKET_SPOT ? "a spot market"
      : r.tenancy != HOSTLER_TENANCY_DEFAULT                                   ? "tenancy"
      : r.public_ip == HOSTLER_PUBLIC_IP_YES                                   ? "public addresses"
      : r.type->gpus != 0                                                      ? "GPUs"
      : r.n_disks != 0                                                         ? "disks"
      : !view(r.zone).empty() || !view(r.region).empty()                       ? "zones and regions"
      : !view(r.subnet).empty()                                                ? "subnets"
      : !view(r.image_id).empty()                                              ? "images"
      : r.n_security_groups != 0                                               ? "security groups"
      : r.n_profiles != 0                                                      ? "profiles"
      : !view(r.placement_group).empty()                                       ? "placement groups"
      : !view(r.capacity_reservation).empty() ? "capacity reservations"
      : !view(r.identity_profile).empty()     ? "identity profiles"
      : !view(r.remote_user).empty()          ? "login users to choose from"
      : r.user_data != nullptr && (r.user_data->flags & HOSTLER_USER_DATA_GZIP) != 0
          ? "compressed user data"
      : r.user_data != nullptr && r.user_data->format != HOSTLER_USER_DATA_SH
          ? "user data for cloud-init"
          : nullptr;
  if (wish != nullptr)
    throw Error(HOSTLER_E_UNSUPPORTED, std::string("this cloud does not have ") + wish);
}

uint32_t state_of(const Json& state) {
  if (state.is("running")) return HOSTLER_STATE_RUNNING;
  if (state.is("booting")) return HOSTLER_STATE_PENDING;
  if (state.is("failed")) return HOSTLER_STATE_FAILED;
  return HOSTLER_STATE_UNKNOWN;
}

void check_machine(const Json& machine) {
  if (machine["id"].kind != Json::Kind::kText || machine["id"].text.empty() ||
      machine["tags"].kind != Json::Kind::kObject)
    throw Error(HOSTLER_E_TRANSIENT, "the machine in the cloud's answer has no id or no tags");
}

void emit(const Json& machine, hostler_op* op) {
  auto out = driver::instance_record();
  hostler_address address{HOSTLER_ADDRESS_PRIVATE, 0, str(machine["address"].text)};
  std::vector<hostler_kv> tags;
  for (const auto& [key, value] : machine["tags"].members)
    tags.push_back({str(key), str(value.text)});
  out.id = str(machine["id"].text);
  out.idempotency_key = str(machine["key"].text);
  // Whose it is comes back from the tags: hostler trusts nothing else.
  out.set_id = str(machine["tags"]["hostler-set"].text);
  out.owner = str(machine["tags"]["hostler-owner"].text);
  out.remote_user = str(machine["user"].text);
  out.addresses = &address;
  out.n_addresses = address.text.len == 0 ? 0 : 1;
  out.tags = tags.data();
  out.n_tags = tags.size();
  out.created_unix_ns = machine["created_ms"].number() * 1'000'000;
  out.state = state_of(machine["state"]);
  out.market = HOSTLER_MARKET_ON_DEMAND;
  out.ssh_port = static_cast<uint32_t>(machine["port"].number());
  driver::emit(op, out);
}

bool is_wanted(const Json& machine, const hostler_list_req& r) {
  bool wanted = r.n_ids == 0;
  for (size_t i = 0; i < r.n_ids; ++i) wanted |= machine["id"].is(view(r.ids[i]));
  for (size_t i = 0; i < r.n_tag_filter; ++i) {
    const Json& tag = machine["tags"][view(r.tag_filter[i].key)];
    wanted &= tag.kind == Json::Kind::kText && tag.is(view(r.tag_filter[i].value));
  }
  return wanted;
}

std::string members(const hostler_kv* tags, size_t n) {
  std::string out = R"(,"tags":{)";
  for (size_t i = 0; i < n; ++i)
    out += (i == 0 ? "" : ",") + Json::quote(view(tags[i].key)) + ":" +
           Json::quote(view(tags[i].value));
  return out + "}";
}

class MyCloud {
 public:
  static driver::About about() {
    return {"mycloud",
            "0.1",
            nullptr,
            "Apache-2.0",
            R"({"type": "object", "required": ["endpoint"], "additionalProperties": false,
                "properties": {"endpoint": {"type": "string"}}})",
            HOSTLER_THREAD_CONCURRENT,
            16};
  }

  // Wrong credentials show now, not at the first machine.
  MyCloud(const hostler_host&, const hostler_set_config& config, hostler_op* op) : cloud_(config) {
    (void)cloud_.ask(op, "info");
  }

  void info(const hostler_set_info_req&, hostler_op* op) {
    auto out = driver::set_info_record();
    out.account_id = str(cloud_.host());
    out.capabilities =
        HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_HOST_KEY_INJECT | HOSTLER_CAP_USER_DATA;
    out.list_consistency_ms = 1;  // at once; 0 would mean that nobody knows
    out.user_data_max_bytes = 256 * 1024;
    out.tags_max = 64;
    out.tag_key_max = 128;
    out.tag_value_max = 255;
    driver::emit(op, out);
  }

  void create(const hostler_create_req& r, hostler_op* op) {
    refuse_wishes(r);
    std::string request = R"(,"key":)" + Json::quote(view(r.idempotency_key));
    request += R"(,"authorized_keys":[)";
    for (size_t i = 0; i < r.n_ssh_public_keys; ++i)
      request += (i == 0 ? "" : ",") + Json::quote(view(r.ssh_public_keys[i]));
    request += "]";
    if (r.ssh_host_key_private.len != 0)
      request += R"(,"host_key":)" + Json::quote(view(r.ssh_host_key_private));
    if (r.user_data != nullptr && r.user_data->n_bytes != 0)
      request +=
          R"(,"user_data":)" +
          Json::quote({reinterpret_cast<const char*>(r.user_data->bytes), r.user_data->n_bytes});
    const Json answer = cloud_.ask(op, "create", request + members(r.tags, r.n_tags));
    try {
      check_machine(answer["machine"]);
    } catch (Error& e) {
      throw e.outcome_unknown();
    }
    emit(answer["machine"], op);
  }

  // A list is complete or an error: what is not understood is not left out.
  void list(const hostler_list_req& r, hostler_op* op) {
    const Json answer = all(op);
    for (const auto& [name, machine] : answer["machines"].members)
      if (is_wanted(machine, r)) emit(machine, op);
  }

  // What is not there is destroyed already: OK.
  void destroy(const hostler_destroy_req& r, hostler_op* op) {
    const Json answer = all(op);
    for (const auto& [name, machine] : answer["machines"].members) {
      if (!machine["id"].is(view(r.id))) continue;
      const auto set = view(r.expected_set_id);
      if (!set.empty() && !machine["tags"]["hostler-set"].is(set))
        throw Error(HOSTLER_E_CONFLICT, machine["id"].text + " is another set's");
      (void)cloud_.ask(op, "destroy", R"(,"id":)" + Json::quote(view(r.id)));
    }
  }

  void set_tags(const hostler_set_tags_req& r, hostler_op* op) {
    (void)cloud_.ask(op, "tag", R"(,"id":)" + Json::quote(view(r.id)) + members(r.set, r.n_set));
  }

 private:
  Json all(hostler_op* op) const {
    Json answer = cloud_.ask(op, "list");
    if (answer["machines"].kind != Json::Kind::kArray)
      throw Error(HOSTLER_E_TRANSIENT, "the cloud has sent no list");
    for (const auto& [name, machine] : answer["machines"].members) check_machine(machine);
    return answer;
  }

  const Cloud cloud_;
};

}  // namespace

HOSTLER_REGISTER(MyCloud)
