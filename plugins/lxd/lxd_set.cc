#include "lxd_set.h"

#include <set>

#include "http.h"
#include "names.h"
#include "record.h"
#include "with_context.h"

namespace hostler::lxd {
namespace {

using driver::Error;
using driver::str;
using driver::view;

/// Of ids that are asked for one by one; for more of them the whole list costs less.
constexpr std::size_t kSingleMax = 8;
/// LXD looks into each container for it. The deadline of the call, `list_timeout`, comes first.
constexpr std::int64_t kListTimeoutMs = 600'000;

/// Or may have them.
bool has_all(const Instance& instance, const hostler_list_req& request) {
  if (instance.tags_unknown) return true;
  const Tags& tags = instance.tags;
  for (std::size_t i = 0; i < request.n_tag_filter; ++i) {
    const auto found = tags.find(text(request.tag_filter[i].key));
    if (found == tags.end() || found->second != view(request.tag_filter[i].value)) return false;
  }
  return true;
}

}  // namespace

driver::About LxdSet::about() {
  return {"lxd",         HOSTLER_LXD_VERSION,       "hostler", "Apache-2.0",
          kConfigSchema, HOSTLER_THREAD_CONCURRENT, 16};
}

LxdSet::LxdSet(const hostler_host& host, const hostler_set_config& config, hostler_op* op)
    : LxdSet(
          config,
          [&] {
            const Config read = read_config(text(config.config_json));
            return std::make_unique<Http>(read,
                                          read_credentials(text(config.credentials_json), read));
          }(),
          op) {
  driver::log(host, HOSTLER_LOG_INFO, "project " + config_.project + " of LXD " + account_, op);
}

LxdSet::LxdSet(const hostler_set_config& config, std::unique_ptr<Transport> transport,
               hostler_op* op)
    : set_id_(text(config.set_id)),
      config_(read_config(text(config.config_json))),
      shared_tags_(read_tags(config.shared_tags, config.n_shared_tags)),
      api_(std::move(transport), config_.project) {
  look_at_server(op);
}

/// Who it is, whether it trusts us, and whether the project is there.
void LxdSet::look_at_server(hostler_op* op) {
  with_context("open project " + config_.project, [&] {
    const Answer answer = api_.get("/1.0", op);
    const Value& server = answer.metadata();
    if (text_of(server, "auth") != "trusted")
      throw Error(HOSTLER_E_AUTH,
                  "LXD does not trust the client certificate: `lxc config trust add` does that, in "
                  "Incus `incus config trust add-certificate`");
    const Value* const about = object_of(server, "environment");
    if (about == nullptr) throw_not_lxd("a server without an environment");
    const std::string fingerprint = text_of(*about, "certificate_fingerprint");
    if (fingerprint.empty()) throw_not_lxd("a server without a certificate_fingerprint");
    account_ = fingerprint + "/" + config_.project;
    architecture_ = text_of(*about, "kernel_architecture");
    is_clustered_ = truth_of(*about, "server_clustered");
    has_cloud_init_keys_ = list_has(server, "api_extensions", "cloud_init");
    if (!list_has(server, "api_extensions", "instance_get_full"))
      throw Error(HOSTLER_E_UNSUPPORTED, "this LXD is too old: the driver needs version 4.22");
    api_.get(project_path(), op);
  });
}

std::string LxdSet::project_path() const { return "/1.0/projects/" + encoded(config_.project); }

void LxdSet::info(const hostler_set_info_req&, hostler_op* op) {
  auto out = driver::set_info_record();
  out.account_id = str(account_);
  out.region = str(config_.region);
  out.currency = str(config_.currency);
  // A name exists once, and the key of a create is in it.
  out.capabilities = HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_HOST_KEY_INJECT |
                     HOSTLER_CAP_USER_DATA | HOSTLER_CAP_USER_DATA_MIME | HOSTLER_CAP_STOP;
  out.list_consistency_ms = 2000;  // LXD answers a create before its list shows the instance
  out.user_data_max_bytes = kUserDataMax;
  out.tags_max = 100;
  out.tag_key_max = 127;
  out.tag_value_max = 255;
  out.name_max = 100;
  driver::emit(op, out);
}

std::optional<Instance> LxdSet::look(const std::string& name, hostler_op* op) const {
  const auto answer = api_.find(Api::instance(name, "?recursion=1"), op);
  if (!answer) return std::nullopt;
  return read_instance(answer->metadata());
}

std::optional<Instance> LxdSet::find(const std::string& name, hostler_op* op) const {
  auto found = look(name, op);
  if (found && found->tags_unknown)
    throw NoAnswer(HOSTLER_E_TRANSIENT, found->state_reason + ": LXD cannot reach " + name, false);
  return found;
}

/// Nothing if one of them cannot be read by itself, such as one on a member of a cluster that does
/// not answer: the whole list has it.
std::optional<std::vector<Instance>> LxdSet::look_at(const std::set<std::string>& names,
                                                     hostler_op* op) const {
  std::vector<Instance> out;
  try {
    for (const std::string& name : names)
      if (auto found = look(name, op)) out.push_back(std::move(*found));
  } catch (const Refused& refused) {
    if (says_forbidden(refused)) throw;
    return std::nullopt;
  } catch (const NoAnswer& problem) {
    if (!problem.is_worth_retry()) throw;
    return std::nullopt;
  }
  return out;
}

std::vector<Instance> LxdSet::look_at_all(hostler_op* op) const {
  const Answer answer = api_.get("/1.0/instances?recursion=2", op, kListTimeoutMs);
  if (!answer.metadata().IsArray()) throw_not_lxd("the instances are no list");
  // LXD shows no instances of a project that is not there.
  if (answer.metadata().Empty()) api_.get(project_path(), op);
  std::vector<Instance> all;
  for (const Value& one : answer.metadata().GetArray()) all.push_back(read_instance(one));
  return all;
}

void LxdSet::list(const hostler_list_req& request, hostler_op* op) {
  with_context("list instances of project " + config_.project, [&] {
    std::set<std::string> ids;
    for (std::size_t i = 0; i < request.n_ids; ++i) ids.insert(text(request.ids[i]));
    std::optional<std::vector<Instance>> all;
    if (!ids.empty() && ids.size() <= kSingleMax) all = look_at(ids, op);
    if (!all) all = look_at_all(op);
    for (const Instance& one : *all) {  // nothing is emitted of a list that cannot be read whole
      const bool wanted = (ids.empty() || ids.count(one.name) != 0) && has_all(one, request);
      if (wanted) emit_instance(one, config_, op);
    }
  });
}

void LxdSet::destroy(const hostler_destroy_req& request, hostler_op* op) {
  const std::string name =
      request.id.len != 0 ? text(request.id) : name_of_key(view(request.idempotency_key));
  with_context("destroy " + name, [&] {
    const auto found = find(name, op);
    if (!found) return;
    if (request.expected_set_id.len != 0 && found->set_id != view(request.expected_set_id))
      throw Error(HOSTLER_E_CONFLICT,
                  name + " belongs to " +
                      (found->set_id.empty() ? "no set of hostler" : "the set " + found->set_id));
    try {
      if (found->is_on) set_power(name, "stop", op);
      api_.change("DELETE", Api::instance(name), "", op);
    } catch (const Refused& refused) {  // somebody else was faster?
      if (!find(name, op)) return;
      if (says_forbidden(refused) || refused.status() == kTooMany) throw;
      // Whatever it is: NOT_FOUND is of something else, such as its storage pool. The host asks
      // again.
      throw Error(HOSTLER_E_TRANSIENT, "LXD cannot destroy " + name + ": " + refused.text());
    }
  });
}

}  // namespace hostler::lxd
