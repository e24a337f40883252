#include "core/daemon/daemon.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "core/api/routes.h"
#include "core/api/server.h"
#include "core/base/clock.h"
#include "core/base/places.h"
#include "core/base/text.h"
#include "core/config/diff.h"
#include "core/config/load.h"
#include "core/crypto/random.h"
#include "core/daemon/account_commands.h"
#include "core/daemon/clouds.h"
#include "core/daemon/create_secrets.h"
#include "core/daemon/descriptors.h"
#include "core/daemon/drain_commands.h"
#include "core/daemon/effects.h"
#include "core/daemon/empty_mark.h"
#include "core/daemon/event_log.h"
#include "core/daemon/from_config.h"
#include "core/daemon/installation.h"
#include "core/daemon/loop.h"
#include "core/daemon/metric_inputs.h"
#include "core/daemon/metrics_feed.h"
#include "core/daemon/ports.h"
#include "core/daemon/reload_checks.h"
#include "core/daemon/reload_status.h"
#include "core/daemon/service/service.h"
#include "core/hosts/hosts.h"
#include "core/log/log.h"

namespace hostler::daemon {

/// Each part may use those before it, so ~Daemon ends them from the last to the first. It has many
/// members because its only role is to hold and connect all parts; each part has one role.
struct Daemon::Parts {
  config::Config config;
  metrics::Metrics metrics{HOSTLER_VERSION};
  MetricsFeed feed{metrics};
  PendingReplies replies;
  std::shared_ptr<Notifier<int>> events = std::make_shared<Notifier<int>>();
  std::shared_ptr<Notifier<model::WorkId>> output = std::make_shared<Notifier<model::WorkId>>();
  ReloadStatus reload;
  std::unique_ptr<Planner> planner;
  std::unique_ptr<Clouds> clouds;
  std::unique_ptr<hosts::Hosts> hosts;
  std::unique_ptr<DrainCommands> drains;
  std::unique_ptr<Effects> effects;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Loop> loop;
  std::unique_ptr<MetricInputs> metric_inputs;
  std::unique_ptr<Worker> worker;
  CurrentQuotas quotas;
  CurrentConfig current;
  std::unique_ptr<DaemonService> service;
  std::unique_ptr<api::Server> server;
  bool serving = false;
  std::uint64_t descriptors_max = 0;
  DescriptorShares shares;  ///< Those of the configuration.
  std::shared_ptr<Places> host_places;

  /// The steps of a start, in this order: each uses the parts that those before it have made.
  void load_drivers();
  Result<model::Restored> open_store(bool go_on);
  /// `owner`: the id of the store.
  Result<void> make_loop(Options options, const std::string& owner);
  Result<void> make_server();
  void log_addresses() const;

  /// Events before the loop exists are ignored.
  void post(dispatch::Event event) {
    if (loop) loop->post(std::move(event));
  }
  void on_store_health(const store::Health& health);
  void on_disk(const std::string& folder, bool full);
  void on_epochs(const dispatch::EpochsCompared& result);
  void tell_old() const;
  void commit(dispatch::Outbox out, model::Revision revision);
  /// Once an hour has the store remove what is past its retention. For each commit; loop thread.
  void tidy_store(Now now);

  std::atomic<model::Revision> durable{0};  ///< The last revision that is.
  std::optional<Mono> tidied;
  // Set on the main thread by a reload, read on the loop's.
  std::atomic<Duration::rep> keep_age{0};
  std::atomic<std::int64_t> keep_bytes{0};
  void set_keep(const config::LedgerKeep& keep) {
    keep_age = keep.age.count();
    keep_bytes = keep.bytes;
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

void log_warnings(const config::Config& config) {
  for (const auto& warning : config::warnings_of(config)) log::warn("config", warning);
}

}  // namespace

/// Loop thread. The effects and the lines of the log leave on the store's thread once the changes
/// are durable.
void Daemon::Parts::commit(dispatch::Outbox out, model::Revision revision) {
  model::Commit commit{revision, std::move(out.changes), std::move(out.bodies_wanted)};
  auto lines = lines_of(commit.changes);
  std::vector<model::WorkId> ended;
  for (const auto& change : commit.changes)
    if (const auto* job = std::get_if<model::WorkChanged>(&change))
      if (model::is_terminal(job->record.state)) ended.push_back(job->record.id);
  auto effects_left = std::make_shared<std::vector<dispatch::Effect>>(std::move(out.effects));
  const Now now = read_clocks();
  feed.count(commit.changes, now);
  tidy_store(now);
  const Mono began = now.mono;
  store->commit(std::move(commit),
                [this, effects_left, ended = std::move(ended), lines = std::move(lines),
                 began](const Result<store::Committed>& done) {
                  metrics.store_commit(read_clocks().mono - began, done.has_value());
                  if (!done) {
                    log::error("store", done.error().message);
                    return;
                  }
                  durable = done->last_revision;
                  effects->issue(std::move(*effects_left), done->bodies);
                  events->notify(0);
                  for (const auto id : ended) output->notify(id);
                  write_events(lines, metrics);
                });
}

void Daemon::Parts::tidy_store(Now now) {
  if (tidied && now.mono - *tidied < kTidyInterval) return;
  tidied = now.mono;
  store::Keep keep;
  keep.age = Duration(keep_age);
  keep.bytes = static_cast<std::uint64_t>(keep_bytes);
  store->tidy(keep, now.wall, [this](const store::Tidied& gone, const Result<void>& ended) {
    if (!gone.work.empty()) post(dispatch::WorkForgotten{gone.work});
    metric_inputs->tell_zones(current.get()->site);
    if (!ended)
      log::warn("store", "removing expired records failed and is tried again in an hour: " +
                             ended.error().message);
    if (gone.records + gone.blobs > 0)
      log::info("store", "removed " + std::to_string(gone.work.size()) + " jobs, " +
                             std::to_string(gone.instances) + " instances, " +
                             std::to_string(gone.records) + " records and " +
                             std::to_string(gone.blobs) + " blobs that have expired");
  });
}

void Daemon::Parts::load_drivers() {
  const auto sets = set_sources(config);
  clouds = std::make_unique<Clouds>(sets, driver_source(config), metrics, reload,
                                    [this](dispatch::Event event) { post(std::move(event)); });
  clouds->reload(sets, driver_rules(config));
}

Result<model::Restored> Daemon::Parts::open_store(bool go_on) {
  auto options = store_options(config, shares);
  if (go_on) options.go_on = read_clocks().wall;
  options.on_health = [this](const store::Health& health) { on_store_health(health); };
  options.on_try = [this](const store::GroupTry& one) {
    metrics.store_try(one.took, one.changes, one.ok);
  };
  // A copy: it is called on any thread, and a reload replaces the configuration.
  options.on_disk = [this, folder = config.state_dir.string()](bool full) {
    on_disk(folder, full);
  };
  auto opened = store::Store::open(config.state_dir, std::move(options));
  if (!opened)
    return tl::unexpected(
        std::move(opened.error()).with_context("state folder " + config.state_dir.string()));
  store = std::move(*opened);
  auto restored = HOSTLER_TRY(store->load());
  if (!store->old_state().empty()) tell_old();
  if (restored.doubted)
    log::warn("daemon",
              "the state folder does not know these rows: nothing is done to a set before its "
              "first list has shown that no instance is of a later epoch");
  for (const auto& row : restored.damaged)
    log::warn("store", "row " + printable(row.key, 200) + " of table " + row.table +
                           " is set aside: " + row.problem +
                           "; stop hostlerd and correct the row, or restore a backup");
  durable = restored.last_revision;
  feed.restore(restored);
  log::info("daemon", "owner " + restored.owner + ", epoch " + std::to_string(restored.epoch) +
                          ": " + std::to_string(restored.work.size()) + " jobs and " +
                          std::to_string(restored.instances.size()) + " instances restored");
  return restored;
}

/// Any thread.
void Daemon::Parts::on_store_health(const store::Health& health) {
  if (health.ok) {
    replies.accept_all();
    return log::info("store", "commits again");
  }
  log::error("store", health.error);
  const std::string why = "the store does not commit: " + health.error;
  // The changes of those who wait are in the store's queue and will be tried again.
  replies.refuse_all(
      {Errc::kOutcomeUnknown,
       why + "; once it does, this may still take effect: look before you ask again"},
      {Errc::kUnavailable, "nothing can be accepted now: " + why});
}

/// Any thread.
void Daemon::Parts::on_disk(const std::string& folder, bool full) {
  if (full)
    log::error("store", "the disk of " + folder +
                            " is full: submits and uploads are refused, and output waits on its "
                            "hosts until there is room again");
  else
    log::info("store", "the disk of " + folder + " has room again");
  post(dispatch::DiskChanged{full});
}

/// Any thread.
void Daemon::Parts::on_epochs(const dispatch::EpochsCompared& result) {
  if (result.later.empty()) {
    if (const auto done = store->trust_state(); !done) log::warn("store", done.error().message);
    return log::info("daemon", "no instance is of a later epoch: the state is the newest one");
  }
  if (!result.is_old) {
    if (const auto done = store->note_later(result.epoch); !done)
      log::warn("store", done.error().message);
    return log::error("daemon",
                      result.later +
                          ": that set is stopped until its lists show no such instance. Either its "
                          "driver says what is not so, or the state was put back: then start "
                          "hostlerd with --restored (docs/backup.md)");
  }
  store->found_old(result.later, result.epoch);
  tell_old();
  const Error why{Errc::kConflict, "nothing can be changed: the state is old: " + result.later};
  replies.refuse_all(why, why);
}

void Daemon::Parts::tell_old() const {
  log::error("daemon", "the state is old: " + store->old_state() +
                           "; it is shown, and nothing is started, ended or created until "
                           "hostlerd is started with --restored (docs/backup.md)");
}

Result<void> Daemon::Parts::make_loop(Options options, const std::string& owner) {
  const auto keys = HOSTLER_TRY(private_keys(config));
  model::SitePolicy policy = HOSTLER_TRY(site_policy(config, shares));
  quotas.set(policy.quotas);
  const auto post_event = [this](dispatch::Event event) { post(std::move(event)); };
  planner = std::make_unique<Planner>(metrics, post_event);
  auto ports = make_host_ports(post_event, *store, *clouds, metrics, output);
  host_places = std::make_shared<Places>(shares.hosts);
  ports.take_places = [places = host_places](unsigned count) { return places->take(count); };
  hosts = std::make_unique<hosts::Hosts>(HOSTLER_TRY(host_settings(config, keys)), ports);
  drains = std::make_unique<DrainCommands>(post_event);
  effects = std::make_unique<Effects>(
      Effects::Targets{clouds.get(), hosts.get(), planner.get(), &replies, drains.get(),
                       [this](const dispatch::EpochsCompared& result) { on_epochs(result); }});
  dispatch::Dispatcher dispatcher(std::move(policy),
                                  make_create_secrets(HOSTLER_TRY(public_halves(keys))),
                                  {.take_over_sets = std::move(options.take_over_sets),
                                   .seed = crypto::random_seed(),
                                   .accounts = make_account_commands(owner)});
  loop = std::make_unique<Loop>(std::move(dispatcher), metrics,
                                Loop::Sinks{[this](dispatch::Outbox out, model::Revision revision) {
                                              commit(std::move(out), revision);
                                            },
                                            [this](std::vector<dispatch::Effect> immediate) {
                                              effects->issue(std::move(immediate), {});
                                            }});
  metric_inputs = std::make_unique<MetricInputs>(config.state_dir, owner, post_event);
  return {};
}

Result<void> Daemon::Parts::make_server() {
  worker = std::make_unique<Worker>();
  service = std::make_unique<DaemonService>(DaemonService::Dependencies{
      loop.get(), store.get(), worker.get(), &replies, &metrics, &feed, &durable, events, output,
      config.state_dir, [this] { return server->certificate_end(); }, &quotas, &reload,
      [this](const std::string& set) { return clouds->driver(set); },
      std::bind_front(&Clouds::read_console, clouds.get()), &current});
  server = HOSTLER_TRY(api::Server::listen(
      server_options(config.access, shares), HOSTLER_TRY(tokens_of(config.access)),
      api::make_site(*service, api_limits(config.limits), api_watch(metrics))));
  return {};
}

void Daemon::Parts::log_addresses() const {
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
  p.worker.reset();  // It reads from the store.
  if (p.loop) p.loop->stop();
  if (p.hosts) p.hosts->stop();  // It writes output to the store, which calls it back.
  // Before another daemon can use the state folder.
  const bool knows = p.serving && p.store->old_state().empty();
  if (knows && p.loop->final_state().has_no_instances()) set_empty_mark(p.config.state_dir);
  if (p.drains) p.drains->refuse();
  p.store.reset();  // Commits what is left and issues its effects.
  p.metric_inputs.reset();
  // Nobody gets this answer: the server's connections are closed.
  const Error stopping{Errc::kUnavailable, "the daemon is stopping"};
  p.replies.refuse_all(stopping, stopping);
  p.drains.reset();
  p.clouds.reset();  // Answers the questions of links to drivers.
  p.hosts.reset();
  p.planner.reset();
  p.server.reset();  // Last: answers to requests went to its connections until now.
}

Result<std::unique_ptr<Daemon>> Daemon::start(config::Config config, Options options) {
  std::unique_ptr<Daemon> daemon(new Daemon(std::make_unique<Parts>()));
  Parts& p = *daemon->parts_;
  p.current.set(p.config = std::move(config));
  p.set_keep(p.config.ledger_keep);
  log::set_level(HOSTLER_TRY(log::parse_level(p.config.log_level)));
  log_warnings(p.config);
  p.descriptors_max = options.descriptors_max;
  p.shares = HOSTLER_TRY(share_descriptors(p.config, p.descriptors_max));
  auto restored = HOSTLER_TRY(p.open_store(options.restored));
  p.load_drivers();  // Recordings may be in the state folder, which the store makes.
  HOSTLER_TRY(dispatch::check_homes(restored, p.config.site));
  HOSTLER_TRY(check_take_over_sets(options.take_over_sets, p.config.site));
  HOSTLER_TRY(p.make_loop(std::move(options), restored.owner));
  HOSTLER_TRY(p.make_server());
  HOSTLER_TRY(clear_empty_mark(p.config.state_dir));
  p.clouds->begin(watched_credentials(p.config));
  p.loop->start(std::move(restored), !p.store->old_state().empty());
  if (!p.store->check_room() && p.store->old_state().empty())
    p.post(dispatch::DiskChanged{.full = true});
  p.metric_inputs->begin(p.config);
  p.serving = true;
  p.server->start();
  p.log_addresses();
  return daemon;
}

Result<void> Daemon::reload(Result<config::Config> fresh) {
  auto done = fresh ? apply(std::move(*fresh)) : tl::unexpected(std::move(fresh).error());
  if (done)
    parts_->reload.succeeded();
  else
    parts_->reload.refused(read_clocks().wall, done.error().message);
  return done;
}

Result<void> Daemon::apply(config::Config fresh) {
  HOSTLER_TRY(check_set_configs(parts_->config, fresh, *parts_->clouds));
  const auto changes = config::diff(parts_->config, fresh);
  if (!changes.restart.empty()) {
    std::string keys;
    for (const auto& key : changes.restart) keys += (keys.empty() ? "" : ", ") + to_string(key);
    return fail(Errc::kInvalidArgument, "these need a restart (instances stay): " + keys);
  }
  HOSTLER_TRY(log::parse_level(fresh.log_level));
  auto tokens = HOSTLER_TRY(tokens_of(fresh.access));
  const auto shares = HOSTLER_TRY(share_descriptors(fresh, parts_->descriptors_max));
  model::SitePolicy policy = HOSTLER_TRY(site_policy(fresh, shares));
  HOSTLER_TRY(parts_->server->reload_certificate());  // The last step that can fail.
  log_warnings(fresh);
  warn_of_dropped_types(parts_->config.site, fresh.site, *parts_->loop);
  parts_->server->set_tokens(std::move(tokens));
  parts_->server->set_bounds(connection_bounds(shares));
  parts_->host_places->set_max(shares.hosts);
  parts_->shares = shares;
  log::set_level(*log::parse_level(fresh.log_level));
  parts_->set_keep(fresh.ledger_keep);
  parts_->clouds->reload(set_sources(fresh), driver_rules(fresh));  // Before they are opened again.
  parts_->clouds->begin(watched_credentials(fresh));
  parts_->hosts->set_pools(pools_by_name(fresh.site));
  parts_->quotas.set(policy.quotas);
  parts_->loop->post(dispatch::PolicyChanged{std::move(policy)});
  parts_->metric_inputs->reload(fresh);
  parts_->current.set(parts_->config = std::move(fresh));
  return {};
}

}  // namespace hostler::daemon
