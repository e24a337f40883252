#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/driver_host/parent/call_reports.h"
#include "core/driver_host/parent/remote_connection.h"
#include "core/driver_host/wire/limits.h"
#include "core/plugin_host/calls.h"
#include "core/plugin_host/extension_calls.h"
#include "core/plugin_host/record_intake.h"
#include "tests/fuzz/target.h"

/// What hostlerd reads from the process of a driver, which may be anything: messages of frames, to
/// calls that run, have ended or never were.
///
/// The input is a row of messages: two bytes of length, then the frames. Calls 1 to 6 run.
namespace hostler::fuzz {
namespace {

using driver_host::Frame;
using driver_host::FrameType;
using plugin_host::Operation;

class Pending final : public driver_host::Sender {
 public:
  hostler_status send(FrameType, std::string, hostler_op*) override { return HOSTLER_PENDING; }
};

void check_text(const std::string& text, const char* what) {
  promise(is_utf8(text) && text.find('\0') == std::string::npos, what, text);
}

void check(const model::ListedInstance& instance) {
  for (const std::string* text : {&instance.id, &instance.zone, &instance.owner,
                                  &instance.idempotency_key, &instance.address})
    check_text(*text, "a text of an instance is text");
  promise(!instance.id.empty() && instance.ssh_port != 0, "an instance has an id and a port");
}

/// The calls of a set whose driver's process says what the input says.
class Host final : public Operation::Listener {
 public:
  Host() {
    connection_ = std::make_shared<driver_host::RemoteConnection>("d", "/d", pending_);
    connection_->set_extensions({HOSTLER_EXT_PRICE_HISTORY, HOSTLER_EXT_QUOTA_GROUP});
    model::CreateRequest request;
    request.idempotency_key = "key-1";
    add<plugin_host::CreateCall, model::ListedInstance>(std::move(request), &check);
    add<plugin_host::ListCall, std::vector<model::ListedInstance>>(model::ListRequest{});
    add<plugin_host::InfoCall, model::SetInfo>();
    add<plugin_host::PriceCall, std::vector<model::ZonePrice>>(plugin_host::PriceQuery{});
    add<plugin_host::QuotaGroupCall, std::string>(model::InstanceType{});
    model::DestroyRequest destroy;
    destroy.id = "i-1";
    add<plugin_host::DestroyCall, plugin_host::DriverSet::Nothing>(std::move(destroy));
  }

  /// As ProcessLoop does. False: nothing of the process is believed any more.
  bool take(const Frame& frame) {
    switch (frame.head.type) {
      case FrameType::kRecord:
        (void)records_.take(frame, [this](std::uint64_t call) { return find(call); });
        return true;
      case FrameType::kEnd:
        return take_end(frame);
      case FrameType::kHello:
        if (const auto hello = driver_host::read_hello(frame.body))
          promise(hello->extensions.size() <= 64, "the number of extensions is bounded");
        return true;
      case FrameType::kLog:
        (void)driver_host::read_log_line(frame.body);
        return true;
      case FrameType::kCrashed:
        (void)driver_host::read_crash(frame.body);
        return true;
      default:
        return true;
    }
  }

  /// Ends what the process has not ended, as when it is gone.
  void end() {
    for (const auto& [id, op] : calls_)
      if (!results_.contains(op.get())) op->complete(op.get(), HOSTLER_E_TRANSIENT);
    for (const auto& [id, op] : calls_) promise(results_[op.get()] == 1, "a call has one result");
  }

  void on_ended(Operation& op) override { op.deliver_result(); }
  void on_late_return(Operation& /*op*/) override {}
  void on_broken_rule(const Operation& /*op*/, const std::string& rule) override {
    promise(is_utf8(rule) && rule.find('\n') == std::string::npos, "a rule is one line", rule);
  }

 private:
  template <class Call, class Result, class... Request>
  void add(Request... request) {
    const auto slot = std::make_shared<const Operation*>(nullptr);
    auto done = [this, slot](model::CloudResult<Result> result) {
      ++results_[*slot];
      if (result) return;
      promise(!result.error().message.empty(), "a failure says why");
      promise(is_utf8(result.error().message), "a failure is text", result.error().message);
    };
    const std::shared_ptr<Operation> op =
        std::make_shared<Call>(connection_, *this, std::move(request)..., std::move(done));
    *slot = op.get();
    calls_.emplace(calls_.size() + 1, op);
    op->run();
  }

  std::shared_ptr<Operation> find(std::uint64_t call) {
    const auto found = calls_.find(call);
    return found == calls_.end() || results_.contains(found->second.get()) ? nullptr
                                                                           : found->second;
  }
  bool take_end(const Frame& frame) {
    records_.end(frame.head.call);
    const auto op = find(frame.head.call);
    if (op == nullptr) return true;
    const auto end = driver_host::read_end(frame.body);
    if (!end) return false;
    driver_host::pass_end(*op, *end);
    return true;
  }

  Pending pending_;
  std::shared_ptr<driver_host::RemoteConnection> connection_;
  std::map<const Operation*, int> results_;
  std::map<std::uint64_t, std::shared_ptr<Operation>> calls_;
  driver_host::RecordReader records_;
};

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  fuzz::Bytes in(data, size);
  fuzz::Host host;
  bool is_mad = false;
  while (!in.empty() && !is_mad) {
    std::string_view message = in.take(in.u16());
    while (const auto frame = driver_host::next_frame(message)) {
      fuzz::promise(frame->body.size() == frame->head.size, "a frame has all its bytes");
      is_mad = is_mad || !host.take(*frame);
    }
    is_mad = is_mad || !message.empty();
  }
  host.end();
  return 0;
}
