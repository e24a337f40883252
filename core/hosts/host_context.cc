#include "core/hosts/host_context.h"

#include <algorithm>
#include <utility>

#include "core/hosts/jump_host.h"

namespace hostler::hosts {
namespace {

const HostSettings::Set& find_set(const HostSettings& settings, const std::string& name) {
  static const HostSettings::Set kDefault;
  const auto found = settings.sets.find(name);
  return found == settings.sets.end() ? kDefault : found->second;
}

}  // namespace

HostContext::HostContext(std::shared_ptr<const HostSettings> all_settings,
                         std::shared_ptr<const HostPorts> host_ports,
                         std::shared_ptr<OutputRoom> output_room, std::shared_ptr<JumpHost> jump,
                         model::PoolPolicy pool_policy, model::HostTarget host)
    : settings(std::move(all_settings)),
      ports(std::move(host_ports)),
      room(std::move(output_room)),
      pool(std::move(pool_policy)),
      target(std::move(host)),
      jump_(std::move(jump)),
      set_(find_set(*settings, target.set)) {}

boost::asio::awaitable<Result<std::unique_ptr<ssh::Session>>> HostContext::connect(
    std::string key_type) {
  ssh::ConnectRequest request;
  request.host = target.address;
  request.port = target.port;
  request.key_type = std::move(key_type);
  request.names = set_.names;
  // Through a jump host: the two ends of a pair of sockets.
  if (ports->take_places) request.place = ports->take_places(jump_ ? 2 : 1);
  if (ports->take_places && request.place == nullptr)
    co_return fail(Errc::kUnavailable,
                   "hostlerd may open no more files for connections to hosts: raise its limit "
                   "(LimitNOFILE, ulimit -n) and start it again");
  if (!jump_) {
    auto session = co_await ssh::Session::connect(std::move(request));
    co_return session;
  }
  auto session = co_await jump_->connect(std::move(request), reach_);
  co_return session;
}

std::string HostContext::routed(const std::string& text) const {
  if (!jump_ || text.find(jump_->name()) != std::string::npos) return text;
  return text + " (reached through " + jump_->name() + ")";
}

void HostContext::report(model::HostEventBody body) {
  if (stopped_) return;
  if (auto* lost = std::get_if<model::HostLost>(&body)) lost->text = routed(lost->text);
  if (auto* alarm = std::get_if<model::HostKeyAlarm>(&body)) alarm->text = routed(alarm->text);
  ports->post({target.instance, std::move(body)});
}

Duration HostContext::silent() const {
  return std::min<Duration>(std::chrono::steady_clock::now() - heard_at_, 2 * ping_interval());
}

Duration HostContext::ping_interval() const {
  return std::min<Duration>(std::chrono::seconds(10), pool.probe_timeout / 4);
}

void HostContext::report_not_yet(const std::string& step, const std::string& text) {
  const std::string failure = step + ": " + text;
  if (last_failure_ == failure) return;
  last_failure_ = failure;
  report(model::HostNotYet{step, routed(text)});
}

void HostContext::refuse(model::AttemptId attempt, const std::string& why) const {
  ports->post({target.instance, model::AttemptRefused{attempt, why, true}});
}

void HostContext::refuse_unsent(model::AttemptId attempt, const std::string& why) const {
  ports->post({target.instance, model::AttemptRefused{attempt, why, false}});
}

}  // namespace hostler::hosts
