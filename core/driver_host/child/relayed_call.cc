#include "core/driver_host/child/relayed_call.h"

#include <chrono>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/driver_host/wire/decoder.h"
#include "core/driver_host/wire/encoder.h"
#include "core/driver_host/wire/messages.h"
#include "core/plugin_host/abi_values.h"
#include "core/plugin_host/host_table.h"

namespace hostler::driver_host {
namespace {

const char* function_name(FrameType type) {
  switch (type) {
    case FrameType::kOpen:
      return "set_open";
    case FrameType::kInfo:
      return "set_info";
    case FrameType::kCreate:
      return "create";
    case FrameType::kList:
      return "list";
    case FrameType::kDestroy:
      return "destroy";
    case FrameType::kSetTags:
      return "set_tags";
    case FrameType::kVerify:
      return "verify";
    case FrameType::kPriceHistory:
      return "history";
    case FrameType::kQuotaGroup:
      return "group";
    case FrameType::kStart:
      return "start";
    case FrameType::kStop:
      return "stop";
    case FrameType::kOfferings:
      return "offerings";
    case FrameType::kWatch:
      return "watch";
    case FrameType::kReadConsole:
      return "console read";
    case FrameType::kListLeftovers:
      return "leftovers list";
    case FrameType::kDestroyLeftover:
      return "leftovers destroy";
    case FrameType::kFindImages:
      return "images find";
    default:
      return nullptr;
  }
}

/// What the request is about, for log lines.
template <class Request>
std::string subject_of(const Request& request) {
  if constexpr (std::is_same_v<Request, hostler_create_req>)
    return {request.host_instance_id.ptr, request.host_instance_id.len};
  else if constexpr (std::is_same_v<Request, hostler_destroy_req>)
    return {request.id.ptr, request.id.len};
  else
    return {};
}

}  // namespace

std::shared_ptr<RelayedCall> RelayedCall::make(FrameType type, std::uint64_t id, std::string body,
                                               std::shared_ptr<plugin_host::Connection> connection,
                                               Listener& listener, const Outlet& outlet) {
  const char* const name = function_name(type);
  if (name == nullptr) return nullptr;
  std::int64_t deadline_ns = 0;
  if (body.size() < sizeof deadline_ns) return nullptr;
  std::memcpy(&deadline_ns, body.data(), sizeof deadline_ns);
  const Traits traits{
      .name = name, .may_pend = type != FrameType::kOpen, .must_pend = type == FrameType::kWatch};
  auto call = std::make_shared<RelayedCall>(traits, type, id, std::move(body),
                                            std::move(connection), listener, outlet);
  call->set_deadline(plugin_host::SteadyTime(std::chrono::nanoseconds(deadline_ns)));
  return call;
}

/// After the deadline.
std::string_view RelayedCall::request() const {
  return std::string_view(body_).substr(sizeof(std::int64_t));
}

RelayedCall::RelayedCall(const Traits& traits, FrameType type, std::uint64_t id, std::string body,
                         std::shared_ptr<plugin_host::Connection> connection, Listener& listener,
                         const Outlet& outlet)
    : Operation(traits, connection->library->name(), listener),
      type_(type),
      id_(id),
      body_(std::move(body)),
      connection_(std::move(connection)),
      outlet_(outlet) {}

hostler_status RelayedCall::call_driver() {
  const hostler_driver& driver = connection_->driver();
  switch (type_) {
    case FrameType::kOpen:
      return open();
    case FrameType::kInfo:
      return call(driver.set_info);
    case FrameType::kCreate:
      return call(driver.create);
    case FrameType::kList:
      return call(driver.list);
    case FrameType::kDestroy:
      return call(driver.destroy);
    case FrameType::kSetTags:
      return call(driver.set_tags);
    case FrameType::kVerify:
      return call_extension(HOSTLER_EXT_HOST_KEY, &hostler_ext_host_key::verify);
    case FrameType::kPriceHistory:
      return call_extension(HOSTLER_EXT_PRICE_HISTORY, &hostler_ext_price_history::history);
    case FrameType::kQuotaGroup:
      return call_extension(HOSTLER_EXT_QUOTA_GROUP, &hostler_ext_quota_group::group);
    case FrameType::kStart:
      return call_extension(HOSTLER_EXT_POWER, &hostler_ext_power::start);
    case FrameType::kStop:
      return call_extension(HOSTLER_EXT_POWER, &hostler_ext_power::stop);
    case FrameType::kOfferings:
      return call_extension(HOSTLER_EXT_OFFERINGS, &hostler_ext_offerings::offerings);
    case FrameType::kWatch:
      return call_extension(HOSTLER_EXT_INTERRUPTION, &hostler_ext_interruption::watch);
    case FrameType::kReadConsole:
      return call_extension(HOSTLER_EXT_CONSOLE, &hostler_ext_console::read);
    case FrameType::kListLeftovers:
      return call_extension(HOSTLER_EXT_LEFTOVERS, &hostler_ext_leftovers::list);
    case FrameType::kDestroyLeftover:
      return call_extension(HOSTLER_EXT_LEFTOVERS, &hostler_ext_leftovers::destroy);
    case FrameType::kFindImages:
      return call_extension(HOSTLER_EXT_IMAGES, &hostler_ext_images::find);
    default:
      return fail(HOSTLER_E_UNSUPPORTED, "this function is not known");
  }
}

template <class Request>
hostler_status RelayedCall::call(hostler_status (*function)(hostler_set*, const Request*,
                                                            hostler_op*)) {
  Decoder decoder(request(), memory_, Decoder::Texts::kWhole);
  const auto request = decoder.growable<Request>();
  if (!decoder.finished()) return fail(HOSTLER_E_INTERNAL, "hostlerd has sent half a request");
  {
    const MutexLock lock(subject_mutex_);
    subject_ = subject_of(request);
  }
  return function(connection_->set, &request, this);
}

template <class Table, class Request>
hostler_status RelayedCall::call_extension(
    const char* id, hostler_status (*Table::*function)(hostler_set*, const Request*, hostler_op*)) {
  const Table table = connection_->extension<Table>(id);
  if (table.*function == nullptr)
    return fail(HOSTLER_E_UNSUPPORTED, std::string("the driver has no ") + id);
  return call(table.*function);
}

hostler_status RelayedCall::open() {
  Decoder decoder(request(), memory_, Decoder::Texts::kWhole);
  const auto config = decoder.growable<hostler_set_config>();
  if (!decoder.finished()) return fail(HOSTLER_E_INTERNAL, "hostlerd has sent half a request");
  const auto status = connection_->open(config, this);
  if (status == HOSTLER_OK && connection_->set == nullptr)
    report_broken_rule("R18: returned OK without a set");
  return status;
}

std::string RelayedCall::label() const {
  const MutexLock lock(subject_mutex_);
  return traits().name + (subject_.empty() ? "" : " " + subject_);
}

hostler_status RelayedCall::fail(hostler_status status, const std::string& message) {
  report_text(HOSTLER_TEXT_MESSAGE, message.data(), message.size());
  return status;
}

// ---- records -----------------------------------------------------------------------------------

bool RelayedCall::take_record(const hostler_rec& record) {
  return as_record_of(record.kind, [&]<class Record>() { return relay<Record>(record); });
}

template <class Record>
bool RelayedCall::relay(const hostler_rec& record) {
  Record copy;
  if (!keeps_rules(plugin_host::copy_growable(&record, copy))) return false;
  record_.clear();
  Encoder(record_, kRecordTextMax).growable(copy);
  outlet_.append_frame(messages_, FrameType::kRecord, id_, record_);
  // What nobody may lose, and what must not wait for the next record.
  if (type_ == FrameType::kCreate || type_ == FrameType::kWatch) outlet_.flush(messages_);
  return true;
}

void RelayedCall::send_end() {
  const Ending ending = this->ending();
  const hostler_error& e = ending.error;
  const std::string body = to_body(End{.status = ending.status,
                                       .scope = e.scope,
                                       .flags = e.flags,
                                       .retry_after_ms = e.retry_after_ms,
                                       .quota_limit = e.quota_limit,
                                       .quota_used = e.quota_used,
                                       .texts = ending.texts,
                                       .broken_rule = ending.broken_rule});
  outlet_.append_frame(messages_, FrameType::kEnd, id_, body);
  outlet_.flush(messages_);
}

}  // namespace hostler::driver_host
