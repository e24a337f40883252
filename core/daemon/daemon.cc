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
#include "core/daemon/clock.h"
#include "core/daemon/clouds.h"
#include "core/daemon/effects.h"
#include "core/daemon/empty_mark.h"
#include "core/daemon/event_log.h"
#include "core/daemon/from_config.h"
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
  std::shared_ptr<Hub<model::WorkId>> output = std::make_shared<Hub<model::WorkId>>();
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

  /// The steps of a start, in this order; each takes what the ones before have made.
  Result<void> load_drivers();
  Result<model::Restored> open_store();
  Result<void> make_loop(Options options);
  Result<void> make_server();
  void tell_addresses() const;

  /// Dropped before there is a loop.
  void post(dispatch::Event event) {
    if (loop) loop->post(std::move(event));
  }
  void tell_health(const store::Health& health);
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

api::Watch api_watch(metrics::Metrics& metrics) {
  return {[&metrics](const api::Answered& one) {
            metrics.request_answered(one.method, one.route, one.status, one.took);
          },
          [&metrics](int by) { metrics.streams_changed(by); }};
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

}  // namespace

/// Loop thread. What follows from the batch leaves once it is durable.
void Daemon::Parts::commit(dispatch::Outbox out, model::Revision revision) {
  model::Commit commit{revision, std::move(out.changes), std::move(out.bodies_wanted)};
  log_events(commit.changes, metrics);
  std::vector<model::WorkId> ended;
  for (const auto& change : commit.changes)
    if (const auto* job = std::get_if<model::WorkChanged>(&change))
      if (model::is_terminal(job->record.state)) ended.push_back(job->record.id);
  auto effects_left = std::make_shared<std::vector<dispatch::Effect>>(std::move(out.effects));
  const Now now = read_clocks();
  feed.count(commit.changes, now);
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
  store->tidy(past, now.wall, [this](const store::Tidied& gone, const Result<void>& ended) {
    if (!gone.jobs.empty()) post(dispatch::WorkForgotten{gone.jobs});
    if (!ended)
      log::warn("store", "removing what is past keeping: " + ended.error().message +
                             ", ignoring: tried again in an hour");
    if (gone.records + gone.blobs > 0)
      log::info("store", "removed " + std::to_string(gone.jobs.size()) + " jobs, " +
                             std::to_string(gone.instances) + " instances, " +
                             std::to_string(gone.records) + " records and " +
                             std::to_string(gone.blobs) + " blobs past keeping");
  });
}

Result<void> Daemon::Parts::load_drivers() {
  auto loaded = Clouds::load(set_sources(config), driver_folders(config.driver_path), metrics,
                             [this](dispatch::Event event) { post(std::move(event)); });
  if (!loaded && loaded.error().code == Errc::kNotFound)
    return fail(Errc::kInvalidArgument, loaded.error().message);
  clouds = HOSTLER_TRY(std::move(loaded));
  return {};
}

Result<model::Restored> Daemon::Parts::open_store() {
  auto options = store_options(config);
  options.on_health = [this](const store::Health& health) { tell_health(health); };
  options.on_try = [this](const store::GroupTry& one) {
    metrics.store_try(one.took, one.changes, one.ok);
  };
  auto opened = store::Store::open(config.state_dir, std::move(options));
  if (!opened)
    return tl::unexpected(
        std::move(opened.error()).with_context("state folder " + config.state_dir.string()));
  store = std::move(*opened);
  auto restored = HOSTLER_TRY(store->load());
  durable = restored.last_revision;
  feed.restore(restored);
  log::info("daemon", "owner " + restored.owner + ", epoch " + std::to_string(restored.epoch) +
                          ": " + std::to_string(restored.work.size()) + " jobs and " +
                          std::to_string(restored.instances.size()) + " instances taken up");
  return restored;
}

/// Any thread.
void Daemon::Parts::tell_health(const store::Health& health) {
  if (health.ok) {
    tickets.accept_all();
    return log::info("store", "commits again");
  }
  log::error("store", health.error);
  const std::string why = "the store does not commit: " + health.error;
  // What those ask for who wait is in line, and will be tried again.
  tickets.refuse_all(
      {Errc::kOutcomeUnknown,
       why + "; once it does, this may still take effect: look before you ask again"},
      {Errc::kUnavailable, "nothing can be accepted now: " + why});
}

Result<void> Daemon::Parts::make_loop(Options options) {
  const auto keys = HOSTLER_TRY(private_keys(config));
  const auto post_event = [this](dispatch::Event event) { post(std::move(event)); };
  planner = std::make_unique<Planner>(metrics, post_event);
  hosts = std::make_unique<Hosts>(HOSTLER_TRY(host_settings(config, keys)),
                                  make_host_ports(post_event, *store, *clouds, metrics, output));
  effects = std::make_unique<Effects>(Effects::Targets{
      clouds.get(), planner.get(), &tickets,
      [this](model::HostCommand command) { hosts->send(std::move(command)); }, post_event});
  dispatch::Dispatcher dispatcher(config.site, make_mint(HOSTLER_TRY(public_halves(keys))),
                                  {std::move(options.take_over_sets), crypto::random_seed()});
  loop = std::make_unique<Loop>(
      std::move(dispatcher), metrics,
      [this](dispatch::Outbox out, model::Revision revision) { commit(std::move(out), revision); });
  return {};
}

Result<void> Daemon::Parts::make_server() {
  worker = std::make_unique<Worker>();
  service = std::make_unique<DaemonService>(
      DaemonService::Parts{loop.get(), store.get(), worker.get(), &tickets, &metrics, &feed,
                           &durable, events, output, config.state_dir});
  const auto& access = config.access;
  server = HOSTLER_TRY(
      api::Server::listen(server_options(access), HOSTLER_TRY(tokens_of(access)),
                          api::make_site(*service, api_limits(config.limits), api_watch(metrics))));
  return {};
}

void Daemon::Parts::tell_addresses() const {
  const auto& access = config.access;
  if (!access.socket_path.empty()) log::info("daemon", "serving on " + access.socket_path);
  if (!access.tcp_address.empty())
    log::info("daemon",
              "serving on " + access.tcp_address + " port " + std::to_string(server->tcp_port()));
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
  // Nobody hears it: their connections are let go of while the server is there.
  const Error stopping{Errc::kUnavailable, "the daemon is stopping"};
  p.tickets.refuse_all(stopping, stopping);
  p.clouds.reset();  // Answers what links have asked of drivers.
  p.hosts.reset();
  p.planner.reset();
  p.server.reset();  // Last: answers that were owed went to its connections, heard by nobody.
}

Result<std::unique_ptr<Daemon>> Daemon::start(config::Config config, Options options) {
  std::unique_ptr<Daemon> daemon(new Daemon(std::make_unique<Parts>()));
  Parts& p = *daemon->parts_;
  p.config = std::move(config);
  p.keep(p.config.ledger_keep);
  log::set_level(HOSTLER_TRY(log::parse_level(p.config.log_level)));
  HOSTLER_TRY(p.load_drivers());  // Before the store, whose every opening is an epoch.
  auto restored = HOSTLER_TRY(p.open_store());
  HOSTLER_TRY(dispatch::check_homes(restored, p.config.site));
  HOSTLER_TRY(check_sets(options.take_over_sets, p.config.site));
  HOSTLER_TRY(p.make_loop(std::move(options)));
  HOSTLER_TRY(p.make_server());
  HOSTLER_TRY(clear_empty_mark(p.config.state_dir));
  p.loop->start(std::move(restored));
  p.serving = true;
  p.server->start();
  p.tell_addresses();
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
  parts_->keep(fresh.ledger_keep);
  parts_->hosts->set_pools(pools_by_name(fresh.site));
  parts_->loop->post(dispatch::PolicyChanged{fresh.site});
  parts_->config = std::move(fresh);
  return {};
}

}  // namespace hostler::daemon
