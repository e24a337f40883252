#include "core/plugin_host/extension_calls.h"

#include <utility>

#include "core/plugin_host/abi_values.h"
#include "core/plugin_host/extension_values.h"

namespace hostler::plugin_host {

using model::CloudOp;

namespace {

constexpr std::size_t kNoticesMax = 100'000;  ///< Of one watch, which lasts for minutes.

/// Ends a call for which the driver lacks the extension or the function.
hostler_status unsupported(hostler_op* op, const char* extension) {
  const std::string text = std::string("the driver has no ") + extension;
  op->error->set_text(op->error, HOSTLER_TEXT_MESSAGE, text.data(), text.size());
  return HOSTLER_E_UNSUPPORTED;
}
}  // namespace

VerifyCall::VerifyCall(std::shared_ptr<Connection> connection, Listener& listener,
                       HostKeyCheck check, DriverSet::Done<DriverSet::Nothing> done)
    : Call({.name = "verify"}, std::move(connection), listener, std::move(done)),
      check_(std::move(check)) {}

hostler_status VerifyCall::call_driver() {
  const auto extension = connection_->extension<hostler_ext_host_key>(HOSTLER_EXT_HOST_KEY);
  if (extension.verify == nullptr) return unsupported(op(), HOSTLER_EXT_HOST_KEY);
  hostler_verify_req request{};
  request.struct_size = sizeof request;
  request.id = to_abi(check_.id);
  request.key_algo = to_abi(check_.key_algo);
  request.key_blob = reinterpret_cast<const std::uint8_t*>(check_.key_blob.data());
  request.n_key_blob = check_.key_blob.size();
  return extension.verify(set(), &request, op());
}

PriceCall::PriceCall(std::shared_ptr<Connection> connection, Listener& listener, PriceQuery query,
                     DriverSet::Done<std::vector<model::ZonePrice>> done)
    : Call({.name = "history"}, std::move(connection), listener, std::move(done)),
      query_(std::move(query)) {}

hostler_status PriceCall::call_driver() {
  const auto extension =
      connection_->extension<hostler_ext_price_history>(HOSTLER_EXT_PRICE_HISTORY);
  if (extension.history == nullptr) return unsupported(op(), HOSTLER_EXT_PRICE_HISTORY);
  const auto type = to_abi(query_.type);
  hostler_price_req request{};
  request.struct_size = sizeof request;
  request.type = &type;
  request.since_unix_ns = query_.since.us * 1000;
  request.market = type.market;
  return extension.history(set(), &request, op());
}

bool PriceCall::take_record(const hostler_rec& record) {
  if (record.kind != HOSTLER_REC_PRICE) return true;
  return keeps_rules(read_price(record, result_.emplace_back()));
}

QuotaGroupCall::QuotaGroupCall(std::shared_ptr<Connection> connection, Listener& listener,
                               model::InstanceType type, DriverSet::Done<std::string> done)
    : Call({.name = "group"}, std::move(connection), listener, std::move(done)),
      type_(std::move(type)) {}

hostler_status QuotaGroupCall::call_driver() {
  const auto extension = connection_->extension<hostler_ext_quota_group>(HOSTLER_EXT_QUOTA_GROUP);
  if (extension.group == nullptr) return unsupported(op(), HOSTLER_EXT_QUOTA_GROUP);
  const auto type = to_abi(type_);
  hostler_quota_group_req request{};
  request.struct_size = sizeof request;
  request.type = &type;
  request.market = type.market;
  return extension.group(set(), &request, op());
}

bool QuotaGroupCall::take_record(const hostler_rec& record) {
  if (record.kind != HOSTLER_REC_QUOTA_GROUP) return true;
  ++records_;
  return keeps_rules(read_quota_group(record, result_));
}

std::string QuotaGroupCall::rule_broken_by_success() {
  if (records_ <= 1) return {};
  return "R34: OK with " + std::to_string(records_) + " quota groups instead of one at most";
}

namespace {
const char* power_function(CloudOp kind) { return kind == CloudOp::kStart ? "start" : "stop"; }
}  // namespace

PowerCall::PowerCall(std::shared_ptr<Connection> connection, Listener& listener, CloudOp kind,
                     model::PowerRequest request, DriverSet::Done<DriverSet::Nothing> done)
    : Call({.kind = kind, .name = power_function(kind), .changes_cloud = true},
           std::move(connection), listener, std::move(done)),
      request_(std::move(request)) {}

hostler_status PowerCall::call_driver() {
  const auto extension = connection_->extension<hostler_ext_power>(HOSTLER_EXT_POWER);
  const auto function = traits().kind == CloudOp::kStart ? extension.start : extension.stop;
  if (function == nullptr) return unsupported(op(), HOSTLER_EXT_POWER);
  hostler_power_req request{};
  request.struct_size = sizeof request;
  request.id = to_abi(request_.id);
  request.expected_set_id = to_abi(request_.expected_set_id);
  return function(set(), &request, op());
}

// ---- draft extensions --------------------------------------------------------------------------

OfferingsCall::OfferingsCall(std::shared_ptr<Connection> connection, Listener& listener,
                             model::OfferingsQuery query,
                             DriverSet::Done<std::vector<model::CloudOffering>> done)
    : Call({.name = "offerings"}, std::move(connection), listener, std::move(done)),
      query_(std::move(query)) {}

hostler_status OfferingsCall::call_driver() {
  const auto extension = connection_->extension<hostler_ext_offerings>(HOSTLER_EXT_OFFERINGS);
  if (extension.offerings == nullptr) return unsupported(op(), HOSTLER_EXT_OFFERINGS);
  const auto types = to_abi(query_.provider_types);
  hostler_offerings_req request{};
  request.struct_size = sizeof request;
  request.provider_types = types.data();
  request.n_provider_types = types.size();
  request.market = query_.market ? to_abi(*query_.market) : HOSTLER_MARKET_ANY;
  return extension.offerings(set(), &request, op());
}

bool OfferingsCall::take_record(const hostler_rec& record) {
  if (record.kind != HOSTLER_REC_OFFERING) return true;
  return keeps_rules(read_offering(record, result_.emplace_back(), texts_left_));
}

WatchCall::WatchCall(std::shared_ptr<Connection> connection, Listener& listener, OnNotice on_notice,
                     DriverSet::Done<DriverSet::Nothing> done)
    : Call({.name = "watch", .must_pend = true}, std::move(connection), listener, std::move(done)),
      on_notice_(std::move(on_notice)) {}

hostler_status WatchCall::call_driver() {
  const auto extension = connection_->extension<hostler_ext_interruption>(HOSTLER_EXT_INTERRUPTION);
  if (extension.watch == nullptr) return unsupported(op(), HOSTLER_EXT_INTERRUPTION);
  const hostler_interruption_req request{sizeof request, 0};
  return extension.watch(set(), &request, op());
}

bool WatchCall::take_record(const hostler_rec& record) {
  if (record.kind != HOSTLER_REC_INTERRUPTION) return true;
  if (++notices_ > kNoticesMax)
    return report_broken_rule("limit: more than " + std::to_string(kNoticesMax) +
                              " notices of interruptions in one call"),
           false;
  model::Interruption notice;
  if (!keeps_rules(read_interruption(record, notice))) return false;
  on_notice_(notice);
  return true;
}

ConsoleCall::ConsoleCall(std::shared_ptr<Connection> connection, Listener& listener,
                         model::ConsoleQuery query, DriverSet::Done<model::ConsoleText> done)
    : Call({.name = "console read"}, std::move(connection), listener, std::move(done)),
      query_(std::move(query)) {}

hostler_status ConsoleCall::call_driver() {
  const auto extension = connection_->extension<hostler_ext_console>(HOSTLER_EXT_CONSOLE);
  if (extension.read == nullptr) return unsupported(op(), HOSTLER_EXT_CONSOLE);
  hostler_console_req request{};
  request.struct_size = sizeof request;
  request.id = to_abi(query_.id);
  request.offset = query_.offset;
  request.bytes_max = query_.bytes_max;
  return extension.read(set(), &request, op());
}

bool ConsoleCall::take_record(const hostler_rec& record) {
  if (record.kind != HOSTLER_REC_CONSOLE) return true;
  if (!keeps_rules(read_console(record, result_, texts_left_))) return false;
  // The last so many: what a driver sends beyond them is not kept.
  if (const auto most = query_.bytes_max; most != 0 && result_.bytes.size() > most) {
    const std::size_t over = result_.bytes.size() - most;
    result_.bytes.erase(0, over);
    result_.offset += over;
  }
  return true;
}

ListLeftoversCall::ListLeftoversCall(std::shared_ptr<Connection> connection, Listener& listener,
                                     model::Tags tag_filter,
                                     DriverSet::Done<std::vector<model::Leftover>> done)
    : Call({.name = "leftovers list"}, std::move(connection), listener, std::move(done)),
      tag_filter_(std::move(tag_filter)) {}

hostler_status ListLeftoversCall::call_driver() {
  const auto extension = connection_->extension<hostler_ext_leftovers>(HOSTLER_EXT_LEFTOVERS);
  if (extension.list == nullptr) return unsupported(op(), HOSTLER_EXT_LEFTOVERS);
  const auto filter = to_abi(tag_filter_);
  const hostler_leftover_list_req request{sizeof request, 0, filter.data(), filter.size()};
  return extension.list(set(), &request, op());
}

bool ListLeftoversCall::take_record(const hostler_rec& record) {
  if (record.kind != HOSTLER_REC_LEFTOVER) return true;
  return keeps_rules(read_leftover(record, result_.emplace_back(), texts_left_));
}

DestroyLeftoverCall::DestroyLeftoverCall(std::shared_ptr<Connection> connection, Listener& listener,
                                         model::LeftoverDestroyRequest request,
                                         DriverSet::Done<DriverSet::Nothing> done)
    : Call({.name = "leftovers destroy", .changes_cloud = true}, std::move(connection), listener,
           std::move(done)),
      request_(std::move(request)) {}

hostler_status DestroyLeftoverCall::call_driver() {
  const auto extension = connection_->extension<hostler_ext_leftovers>(HOSTLER_EXT_LEFTOVERS);
  if (extension.destroy == nullptr) return unsupported(op(), HOSTLER_EXT_LEFTOVERS);
  const hostler_leftover_destroy_req request{sizeof request, 0, to_abi(request_.type),
                                             to_abi(request_.id), to_abi(request_.expected_set_id)};
  return extension.destroy(set(), &request, op());
}

ImagesCall::ImagesCall(std::shared_ptr<Connection> connection, Listener& listener,
                       model::ImageQuery query, DriverSet::Done<std::vector<model::Image>> done)
    : Call({.name = "images find"}, std::move(connection), listener, std::move(done)),
      query_(std::move(query)) {}

hostler_status ImagesCall::call_driver() {
  const auto extension = connection_->extension<hostler_ext_images>(HOSTLER_EXT_IMAGES);
  if (extension.find == nullptr) return unsupported(op(), HOSTLER_EXT_IMAGES);
  const auto filters = to_abi(query_.filters);
  hostler_images_req request{};
  request.struct_size = sizeof request;
  request.name = to_abi(query_.name);
  request.owner = to_abi(query_.owner);
  request.architecture = to_abi(query_.architecture);
  request.filters = filters.data();
  request.n_filters = filters.size();
  return extension.find(set(), &request, op());
}

bool ImagesCall::take_record(const hostler_rec& record) {
  if (record.kind != HOSTLER_REC_IMAGE) return true;
  return keeps_rules(read_image(record, result_.emplace_back(), texts_left_));
}

}  // namespace hostler::plugin_host
