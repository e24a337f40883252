#include "core/hosts/hosts.h"

#include <pthread.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "core/hosts/exec.h"
#include "core/hosts/jump_host.h"
#include "core/hosts/link.h"
#include "core/log/log.h"

namespace hostler::hosts {

namespace asio = boost::asio;

Hosts::Hosts(HostSettings settings, HostPorts ports)
    : settings_(std::make_shared<const HostSettings>(std::move(settings))),
      ports_(std::make_shared<const HostPorts>(std::move(ports))),
      room_(std::make_shared<OutputRoom>(ports_->disk_room)),
      pools_(settings_->pools),
      busy_(asio::make_work_guard(io_)),
      thread_([this] {
        pthread_setname_np(pthread_self(), "hosts");
        io_.run();
      }) {}

// A failed allocation in stop() ends the process, which is ending anyway.
Hosts::~Hosts() { stop(); }  // NOLINT(bugprone-exception-escape)

void Hosts::stop() {
  if (!thread_.joinable()) return;
  asio::post(io_, [this] {
    for (auto& [id, link] : links_) link->stop();
    links_.clear();
    for (auto& [set, jump] : jump_hosts_) jump->stop();
    busy_.reset();
    io_.stop();
  });
  thread_.join();
}

void Hosts::send(model::HostCommand command) {
  asio::post(io_, [this, command = std::move(command)]() mutable { handle(command); });
}

void Hosts::send_start(model::StartAttempt command, std::shared_ptr<const std::string> body) {
  asio::post(io_, [this, command = std::move(command), body = std::move(body)]() mutable {
    handle_start(command, body.get());
  });
}

void Hosts::set_pools(std::map<std::string, model::PoolPolicy> pools) {
  asio::post(io_, [this, pools = std::move(pools)]() mutable {
    pools_ = std::move(pools);
    for (auto& [id, link] : links_) link->set_pool(pool(link->pool_name()));
  });
}

const model::PoolPolicy& Hosts::pool(const std::string& name) const {
  static const model::PoolPolicy kDefault;
  const auto found = pools_.find(name);
  return found == pools_.end() ? kDefault : found->second;
}

std::shared_ptr<JumpHost> Hosts::jump_host(const std::string& set) {
  const auto found = settings_->sets.find(set);
  if (found == settings_->sets.end() || !found->second.proxy) return nullptr;
  auto& jump = jump_hosts_[set];
  if (!jump) {
    auto tell = [ports = ports_, set](const std::string& problem) {
      if (ports->jump_host_changed) ports->jump_host_changed(set, problem);
    };
    jump = std::make_shared<JumpHost>(io_, *found->second.proxy, settings_->seed, std::move(tell));
  }
  return jump;
}

void Hosts::handle_start(model::StartAttempt& command, const std::string* body) {
  auto spec =
      body == nullptr
          ? Result<model::JobSpec>(fail(Errc::kInternal, "the body of its job is not in the store"))
          : ports_->read_job(*body);
  if (!spec) {
    log::error("host " + command.instance.text(),
               command.attempt.text() + " cannot start: " + spec.error().message);
    model::AttemptEnd end;
    end.reason = model::EndReason::kStartFailed;
    end.text = spec.error().message;
    return ports_->post({command.instance, model::AttemptExited{command.attempt, std::move(end)}});
  }
  command.spec = std::make_shared<const model::JobSpec>(std::move(*spec));
  model::HostCommand start(std::move(command));
  handle(start);
}

void Hosts::handle(model::HostCommand& command) {
  if (auto* connect = std::get_if<model::ConnectHost>(&command)) {
    auto& link = links_[connect->target.instance];
    if (link) return link->retarget(std::move(connect->target));
    const auto& policy = pool(connect->target.pool);
    link = std::make_shared<Link>(io_, settings_, ports_, room_, jump_host(connect->target.set),
                                  policy, std::move(connect->target));
    return link->start();
  }
  const auto id = std::visit(
      [](const auto& one) {
        if constexpr (requires { one.instance; })
          return one.instance;
        else
          return one.target.instance;
      },
      command);
  const auto found = links_.find(id);
  if (found == links_.end()) {
    if (const auto* start = std::get_if<model::StartAttempt>(&command))
      ports_->post(
          {id, model::AttemptRefused{start->attempt, "there is no link to the host", false}});
    if (const auto* run = std::get_if<model::RunCommand>(&command))
      ports_->post({id, not_started(*run, "there is no link to the host")});
    return;
  }
  if (std::get_if<model::DisconnectHost>(&command) != nullptr) {
    found->second->stop();
    links_.erase(found);
    return;
  }
  found->second->command(std::move(command));
}

}  // namespace hostler::hosts
