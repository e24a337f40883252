#include "core/daemon/daemon.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "core/api/routes.h"
#include "core/api/server.h"
#include "core/config/diff.h"
#include "core/crypto/random.h"
#include "core/crypto/ssh_keys.h"
#include "core/daemon/clock.h"
#include "core/daemon/clouds.h"
#include "core/daemon/effects.h"
#include "core/daemon/empty_mark.h"
#include "core/daemon/hosts/hosts.h"
#include "core/daemon/installation.h"
#include "core/daemon/loop.h"
#include "core/daemon/metrics_feed.h"
#include "core/daemon/mint.h"
#include "core/daemon/ports.h"
#include "core/daemon/service.h"
#include "core/log/log.h"

namespace hostler::daemon {

/// In the order of dependence: destroyed from the last to the first, after the loop has stopped.
struct Daemon::Parts {
  config::Config config;
  metrics::Metrics metrics{HOSTLER_VERSION};
  MetricsFeed feed{metrics};
  Tickets tickets;
  std::shared_ptr<Hub<int>> events = std::make_shared<Hub<int>>();
  std::shared_ptr<Hub<model::JobId>> output = std::make_shared<Hub<model::JobId>>();
  std::unique_ptr<Planner> planner;
  std::unique_ptr<Clouds> clouds;
  std::unique_ptr<Hosts> hosts;
  std::unique_ptr<Effects> effects;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Loop> loop;
  std::unique_ptr<Worker> worker;
  std::unique_ptr<DaemonService> service;
  std::unique_ptr<api::Server> server;
  bool serving = false;

  void post(dispatch::Event event) {
    if (loop) loop->post(std::move(event));
  }
  void commit(dispatch::Outbox out, model::Revision revision);
  /// Now and then; a daemon that commits nothing has nothing new to remove. Loop thread.
  void tidy_store(Now now);

  std::atomic<model::Revision> durable{0};
  std::optional<Mono> tidied;
  // A reload sets them on the main thread.
  std::atomic<Duration::rep> keep_age{0};
  std::atomic<std::int64_t> keep_bytes{0};
  void keep(const config::LedgerKeep& what) {
    keep_age = what.age.count();
    keep_bytes = what.bytes;
  }
};

namespace {

constexpr Duration kTidyInterval = std::chrono::hours(1);

std::vector<SetSource> set_sources(const config::Config& config) {
  std::vector<SetSource> out;
  for (std::size_t i = 0; i < config.sets.size(); ++i) {
    const auto& set = config.sets[i];
    out.push_back(
        {set.name, set.driver, set.config_json, set.credentials_json, config.site.sets[i].tags});
  }
  return out;
}

api::ServerOptions server_options(const config::Access& access) {
  api::ServerOptions out;
  out.unix_socket = access.socket_path;
  out.unix_mode = access.socket_mode;
  out.unix_group = access.socket_group;
  out.tcp_address = access.tcp_address;
  out.tcp_port = access.tcp_port;
  out.tls_certificate = access.tls_certificate_file;
  out.tls_key = access.tls_key_file;
  return out;
}

Result<std::vector<api::Token>> tokens_of(const config::Access& access) {
  std::vector<api::Token> tokens;
  for (const auto& token : access.tokens)
    tokens.push_back({token.name, HOSTLER_TRY(api::parse_role(token.role)), token.sha256});
  return tokens;
}

api::Limits api_limits(const config::Limits& limits) {
  api::Limits out;
  out.submit_bytes_max = static_cast<std::size_t>(limits.body_max);
  out.submit_jobs_max = limits.jobs_per_submit_max;
  out.blob_bytes_max = static_cast<std::uint64_t>(limits.blob_max);
  out.job = limits.job;
  return out;
}

api::Watch api_watch(metrics::Metrics& metrics) {
  return {[&metrics](const api::Answered& one) {
            metrics.request_answered(one.method, one.route, one.status, one.took);
          },
          [&metrics](int by) { metrics.streams_changed(by); }};
}

/// Private keys by set, from the config or, made once, from the state folder.
Result<std::map<std::string, std::vector<std::string>>> private_keys(const config::Config& config) {
  std::map<std::string, std::vector<std::string>> out;
  for (const auto& set : config.sets) {
    auto& keys = out[set.name];
    for (const auto& key : set.user_keys) keys.push_back(key.private_key);
    if (keys.empty()) keys.push_back(HOSTLER_TRY(own_user_key(config.state_dir, set.name)));
  }
  return out;
}

store::Options store_options(const config::Config& config) {
  store::Options out;
  // Both ends that a host keeps, and some more: a host that sends beyond it breaks its word.
  out.outputs.stream_bytes_max = std::max(
      out.outputs.stream_bytes_max, 2 * static_cast<std::uint64_t>(config.agent.output_head_max) +
                                        static_cast<std::uint64_t>(config.agent.output_tail_max));
  out.blob_bytes_max = static_cast<std::uint64_t>(config.limits.blob_max);
  out.postgres = config.postgres;
  return out;
}

Result<std::map<std::string, std::vector<std::string>>> public_halves(
    const std::map<std::string, std::vector<std::string>>& private_keys) {
  std::map<std::string, std::vector<std::string>> out;
  for (const auto& [set, keys] : private_keys)
    for (const auto& key : keys)
      out[set].push_back(HOSTLER_TRY(crypto::parse_private_key(key)).line());
  return out;
}

std::map<std::string, model::PoolPolicy> pools_by_name(const model::SitePolicy& site) {
  std::map<std::string, model::PoolPolicy> out;
  for (const auto& pool : site.pools) out[pool.name] = pool;
  return out;
}

Result<HostSettings> host_settings(const config::Config& config,
                                   const std::map<std::string, std::vector<std::string>>& keys) {
  HostSettings out;
  for (const auto& set : config.sets) {
    auto& one = out.sets[set.name];
    one.private_keys = keys.at(set.name);
    one.escalate = set.escalate == config::Escalate::kSudo   ? HostSettings::Escalate::kSudo
                   : set.escalate == config::Escalate::kNone ? HostSettings::Escalate::kNone
                                                             : HostSettings::Escalate::kAuto;
  }
  out.pools = pools_by_name(config.site);
  out.agent_program = HOSTLER_TRY(read_agent_program());
  out.agent_sha256 = crypto::sha256_hex(out.agent_program);
  out.uid_first = config.agent.uid_first;
  out.uid_count = config.agent.uid_count;
  out.agent_folder = config.agent.folder;
  out.blobs_max = static_cast<std::uint64_t>(config.agent.blobs_max);
  out.processes_max = config.agent.processes_max;
  out.kill_grace_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(config.agent.kill_grace).count());
  out.output_head_max = static_cast<std::uint64_t>(config.agent.output_head_max);
  out.output_tail_max = static_cast<std::uint64_t>(config.agent.output_tail_max);
  out.seed = crypto::random_seed();
  return out;
}

/// A typing mistake in a rescue must not look like its success.
Result<void> check_sets(const std::vector<std::string>& named, const model::SitePolicy& site) {
  std::string all;
  for (const auto& set : site.sets) all += (all.empty() ? "" : ", ") + set.name;
  for (const auto& name : named)
    if (std::ranges::find(site.sets, name, &model::SetPolicy::name) == site.sets.end())
      return fail(Errc::kInvalidArgument,
                  "--take-over-set " + name + ": there is no such instance set; there are " + all);
  return {};
}

/// What an admin is to see without asking: it does not mend itself.
void tell_alarms(const std::vector<model::Change>& changes, metrics::Metrics& metrics) {
  for (const auto& change : changes) {
    const auto* said = std::get_if<model::LedgerRecord>(&change);
    if (said == nullptr || (said->event != "foreign_owner" && said->event != "host_key_alarm" &&
                            said->event != "broken" && said->event != "set_missing"))
      continue;
    log::warn("fleet", said->subject + ": " + said->event + ": " + said->reason);
    metrics.alarm(said->event);
  }
}

}  // namespace

/// Loop thread. What follows from the batch leaves once it is durable.
void Daemon::Parts::commit(dispatch::Outbox out, model::Revision revision) {
  model::Commit commit{revision, std::move(out.changes), std::move(out.bodies_wanted)};
  tell_alarms(commit.changes, metrics);
  std::vector<model::JobId> ended;
  for (const auto& change : commit.changes)
    if (const auto* job = std::get_if<model::JobChanged>(&change))
      if (model::is_terminal(job->record.state)) ended.push_back(job->record.id);
  auto effects_left = std::make_shared<std::vector<dispatch::Effect>>(std::move(out.effects));
  const Now now = read_clocks();
  feed.observe(commit.changes, now);
  tidy_store(now);
  const Mono began = now.mono;
  store->commit(std::move(commit), [this, effects_left, ended = std::move(ended),
                                    began](const Result<store::Committed>& done) {
    metrics.store_commit(read_clocks().mono - began, done.has_value());
    if (!done) {
      log::error("store", done.error().message);
      return;
    }
    durable = done->last_revision;
    effects->carry_out(std::move(*effects_left), *done);
    events->ring(0);
    for (const auto id : ended) output->ring(id);
  });
}

void Daemon::Parts::tidy_store(Now now) {
  if (tidied && now.mono - *tidied < kTidyInterval) return;
  tidied = now.mono;
  store::Keep past;
  past.age = Duration(keep_age);
  past.bytes = static_cast<std::uint64_t>(keep_bytes);
  store->tidy(past, now.wall, [this](const Result<store::Tidied>& done) {
    if (done && !done->jobs.empty()) post(dispatch::JobsForgotten{done->jobs});
    if (!done)
      log::warn("store", "removing what is past keeping: " + done.error().message +
                             ", ignoring: tried again in an hour");
    else if (done->records + done->blobs > 0)
      log::info("store", "removed " + std::to_string(done->jobs.size()) + " jobs, " +
                             std::to_string(done->instances) + " instances, " +
                             std::to_string(done->records) + " records and " +
                             std::to_string(done->blobs) + " blobs past keeping");
  });
}

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Daemon::~Daemon() {
  Parts& p = *parts_;
  if (p.server) p.server->stop();
  p.worker.reset();  // It reads the store.
  if (p.loop) p.loop->stop();
  if (p.hosts) p.hosts->stop();  // It writes to the store, which tells it what is durable.
  // While the state folder is this daemon's alone.
  if (p.serving && p.loop->left().has_no_instances()) set_empty_mark(p.config.state_dir);
  p.store.reset();  // Commits and carries out what is left.
  p.tickets.fail_all({Errc::kUnavailable, "the daemon is stopping"});
  p.clouds.reset();  // Answers what links have asked of drivers.
  p.hosts.reset();
  p.planner.reset();
  p.server.reset();  // Last: until here requests were answered.
}

Result<std::unique_ptr<Daemon>> Daemon::start(config::Config config, Options options) {
  std::unique_ptr<Daemon> daemon(new Daemon(std::make_unique<Parts>()));
  Parts& p = *daemon->parts_;
  p.config = std::move(config);
  const config::Config& c = p.config;
  p.keep(c.ledger_keep);
  log::set_level(HOSTLER_TRY(log::parse_level(c.log_level)));

  // Before the store, whose every opening is an epoch.
  auto clouds = Clouds::load(set_sources(c), driver_folders(c.driver_path), p.metrics,
                             [&p](dispatch::Event event) { p.post(std::move(event)); });
  if (!clouds && clouds.error().code == Errc::kNotFound)
    return fail(Errc::kInvalidArgument, clouds.error().message);
  if (!clouds) return tl::unexpected(clouds.error());
  p.clouds = std::move(*clouds);

  auto options_of_store = store_options(c);
  options_of_store.on_health = [&p](const store::Health& health) {
    if (health.ok)
      log::info("store", "commits again");
    else
      log::error("store", health.error);
    if (!health.ok)
      // What they asked for is in line, and will be tried again.
      p.tickets.fail_all({Errc::kOutcomeUnknown,
                          "the store does not commit: " + health.error +
                              "; once it does, this may still take effect: look before you ask "
                              "again"});
  };
  options_of_store.on_try = [&p](const store::GroupTry& one) {
    p.metrics.store_try(one.took, one.changes, one.ok);
  };
  auto opened = store::Store::open(c.state_dir, std::move(options_of_store));
  if (!opened)
    return tl::unexpected(
        std::move(opened.error()).with_context("state folder " + c.state_dir.string()));
  p.store = std::move(*opened);
  auto restored = HOSTLER_TRY(p.store->load());
  HOSTLER_TRY(dispatch::check_homes(restored, c.site));
  HOSTLER_TRY(check_sets(options.take_over_sets, c.site));
  p.durable = restored.last_revision;
  p.feed.take_up(restored);
  log::info("daemon", "owner " + restored.owner + ", epoch " + std::to_string(restored.epoch) +
                          ": " + std::to_string(restored.jobs.size()) + " jobs and " +
                          std::to_string(restored.instances.size()) + " instances taken up");

  const auto keys = HOSTLER_TRY(private_keys(c));
  p.planner = std::make_unique<Planner>(c.site, p.metrics,
                                        [&p](dispatch::PlanMade plan) { p.post(std::move(plan)); });
  p.hosts = std::make_unique<Hosts>(
      HOSTLER_TRY(host_settings(c, keys)),
      make_host_ports([&p](model::HostEvent event) { p.post(std::move(event)); }, *p.store,
                      *p.clouds, p.metrics, p.output));
  p.effects = std::make_unique<Effects>(
      Effects::Targets{p.clouds.get(), p.planner.get(), &p.tickets,
                       [&p](model::HostCommand command) { p.hosts->send(std::move(command)); },
                       [&p](dispatch::Event event) { p.post(std::move(event)); }});

  dispatch::Dispatcher dispatcher(c.site, make_mint(HOSTLER_TRY(public_halves(keys))),
                                  {std::move(options.take_over_sets), crypto::random_seed()});
  p.loop = std::make_unique<Loop>(
      std::move(dispatcher), p.metrics,
      [&p](dispatch::Outbox out, model::Revision revision) { p.commit(std::move(out), revision); });
  p.worker = std::make_unique<Worker>();
  p.service = std::make_unique<DaemonService>(
      DaemonService::Parts{p.loop.get(), p.store.get(), p.worker.get(), &p.tickets, &p.metrics,
                           &p.feed, &p.durable, p.events, p.output, c.state_dir});
  p.server = HOSTLER_TRY(
      api::Server::listen(server_options(c.access), HOSTLER_TRY(tokens_of(c.access)),
                          api::make_site(*p.service, api_limits(c.limits), api_watch(p.metrics))));
  HOSTLER_TRY(clear_empty_mark(c.state_dir));
  p.loop->start(std::move(restored));
  p.serving = true;
  p.server->start();
  if (!c.access.socket_path.empty()) log::info("daemon", "serving on " + c.access.socket_path);
  if (!c.access.tcp_address.empty())
    log::info("daemon", "serving on " + c.access.tcp_address + " port " +
                            std::to_string(p.server->tcp_port()));
  return daemon;
}

Result<void> Daemon::reload(config::Config fresh) {
  const auto changes = config::diff(parts_->config, fresh);
  if (!changes.restart.empty()) {
    std::string keys;
    for (const auto& key : changes.restart) keys += (keys.empty() ? "" : ", ") + key;
    return fail(Errc::kInvalidArgument, "these need a restart (instances stay): " + keys);
  }
  HOSTLER_TRY(log::parse_level(fresh.log_level));
  parts_->server->set_tokens(HOSTLER_TRY(tokens_of(fresh.access)));
  log::set_level(*log::parse_level(fresh.log_level));
  parts_->planner->set_policy(fresh.site);
  parts_->keep(fresh.ledger_keep);
  parts_->hosts->set_pools(pools_by_name(fresh.site));
  parts_->loop->post(dispatch::PolicyChanged{fresh.site});
  parts_->config = std::move(fresh);
  return {};
}

}  // namespace hostler::daemon
