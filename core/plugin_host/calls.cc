#include "core/plugin_host/calls.h"

#include <algorithm>
#include <cstddef>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/plugin_host/abi_values.h"

namespace hostler::plugin_host {

using model::CloudOp;

// ---- open, info --------------------------------------------------------------------------------

OpenCall::OpenCall(std::shared_ptr<Connection> connection, Listener& listener, SetConfig config,
                   DriverSet::Done<DriverSet::Nothing> done)
    : Call({.kind = CloudOp::kOpen, .name = "set_open", .may_pend = false}, std::move(connection),
           listener, std::move(done)),
      config_(std::move(config)) {}

hostler_status OpenCall::call_driver() {
  const auto tags = to_abi(config_.shared_tags);
  hostler_set_config config{};
  config.struct_size = sizeof config;
  config.set_id = to_abi(config_.set_id);
  config.config_json = to_abi(config_.config_json);
  config.credentials_json = to_abi(config_.credentials_json);
  config.shared_tags = tags.data();
  config.n_shared_tags = tags.size();
  return connection_->open(config, op());
}

std::string OpenCall::rule_broken_by_success() {
  return set() == nullptr ? "R18: returned OK without a set" : std::string();
}

InfoCall::InfoCall(std::shared_ptr<Connection> connection, Listener& listener,
                   DriverSet::Done<model::SetInfo> done)
    : Call({.kind = CloudOp::kOther, .name = "set_info"}, std::move(connection), listener,
           std::move(done)) {}

hostler_status InfoCall::call_driver() {
  const hostler_set_info_req request{sizeof request, 0};
  return driver().set_info(set(), &request, op());
}

bool InfoCall::take_record(const hostler_rec& record) {
  if (record.kind != HOSTLER_REC_SET_INFO) return true;
  ++records_;
  return keeps_rules(read_set_info(record, result_));
}

std::string InfoCall::rule_broken_by_success() {
  if (records_ != 1) {
    return "R34: OK with " + std::to_string(records_) + " records of the set instead of one";
  }
  const auto& c = *connection_;
  try {
    result_.has_host_key_extension =
        c.extension<hostler_ext_host_key>(HOSTLER_EXT_HOST_KEY).verify != nullptr;
    result_.has_price_history =
        c.extension<hostler_ext_price_history>(HOSTLER_EXT_PRICE_HISTORY).history != nullptr;
    result_.has_power = c.extension<hostler_ext_power>(HOSTLER_EXT_POWER).stop != nullptr;
    result_.has_console = c.extension<hostler_ext_console>(HOSTLER_EXT_CONSOLE).read != nullptr;
    result_.has_leftovers =
        c.extension<hostler_ext_leftovers>(HOSTLER_EXT_LEFTOVERS).list != nullptr;
  } catch (...) {
    return "R45: an exception left get_extension";
  }
  return {};
}

// ---- instances ---------------------------------------------------------------------------------

CreateCall::CreateCall(std::shared_ptr<Connection> connection, Listener& listener,
                       model::CreateRequest request, OnRecord on_record,
                       DriverSet::Done<model::ListedInstance> done)
    : Call({.kind = CloudOp::kCreate, .name = "create", .changes_cloud = true},
           std::move(connection), listener, std::move(done)),
      request_(std::move(request)),
      on_record_(std::move(on_record)) {}

hostler_status CreateCall::call_driver() {
  const CreateArguments arguments(request_);
  return driver().create(set(), &arguments.get(), op());
}

bool CreateCall::take_record(const hostler_rec& record) {
  if (record.kind != HOSTLER_REC_INSTANCE) return true;
  model::ListedInstance seen;
  auto rule = read_instance(record, connection_->address, seen, texts_left_);
  if (rule.empty() && effect_seen_ && seen.id != result_.id) {
    rule = "R28: emitted two ids, '" + printable(result_.id) + "' and '" + printable(seen.id) + "'";
  }
  if (rule.empty() && seen.idempotency_key != request_.idempotency_key) {
    rule = "R32: emitted an instance of another idempotency key";
  }
  effect_seen_ = true;
  if (!keeps_rules(std::move(rule))) return false;
  result_ = std::move(seen);
  if (on_record_) on_record_(result_);
  return true;
}

std::string CreateCall::rule_broken_by_success() {
  return effect_seen_ ? std::string() : "R28: returned OK without emitting the instance";
}

ListCall::ListCall(std::shared_ptr<Connection> connection, Listener& listener,
                   model::ListRequest request,
                   DriverSet::Done<std::vector<model::ListedInstance>> done)
    : Call({.kind = CloudOp::kList, .name = "list", .urgent = true}, std::move(connection),
           listener, std::move(done)),
      request_(std::move(request)) {}

hostler_status ListCall::call_driver() {
  const auto ids = to_abi(request_.ids);
  const auto filter = to_abi(request_.tag_filter);
  const hostler_list_req request{sizeof request, 0, ids.data(), ids.size(), filter.data(),
                                 filter.size()};
  return driver().list(set(), &request, op());
}

bool ListCall::take_record(const hostler_rec& record) {
  if (record.kind != HOSTLER_REC_INSTANCE) return true;
  // Each time that it grows all instances are moved: a fifth of the time of a long list.
  if (result_.size() == result_.capacity())
    result_.reserve(4 * std::max(result_.size(), std::size_t{4}));
  return keeps_rules(
      read_instance(record, connection_->address, result_.emplace_back(), texts_left_));
}

DestroyCall::DestroyCall(std::shared_ptr<Connection> connection, Listener& listener,
                         model::DestroyRequest request, DriverSet::Done<DriverSet::Nothing> done)
    : Call({.kind = CloudOp::kDestroy, .name = "destroy", .changes_cloud = true, .urgent = true},
           std::move(connection), listener, std::move(done)),
      request_(std::move(request)) {}

hostler_status DestroyCall::call_driver() {
  HOSTLER_ASSERT(!request_.id.empty(), "what has no id yet is looked for by list first");
  hostler_destroy_req request{};
  request.struct_size = sizeof request;
  request.id = to_abi(request_.id);
  request.idempotency_key = to_abi(request_.idempotency_key);
  request.expected_set_id = to_abi(request_.expected_set_id);
  return driver().destroy(set(), &request, op());
}

SetTagsCall::SetTagsCall(std::shared_ptr<Connection> connection, Listener& listener,
                         model::SetTagsRequest request, DriverSet::Done<DriverSet::Nothing> done)
    : Call({.kind = CloudOp::kSetTags, .name = "set_tags", .changes_cloud = true},
           std::move(connection), listener, std::move(done)),
      request_(std::move(request)) {}

hostler_status SetTagsCall::call_driver() {
  const auto set_tags = to_abi(request_.set);
  hostler_set_tags_req request{};
  request.struct_size = sizeof request;
  request.id = to_abi(request_.id);
  request.set = set_tags.data();
  request.n_set = set_tags.size();
  return driver().set_tags(set(), &request, op());
}

}  // namespace hostler::plugin_host
