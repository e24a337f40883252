#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/service.h"
#include "core/daemon/loop.h"
#include "core/daemon/metrics_feed.h"
#include "core/daemon/notifier.h"
#include "core/daemon/pending_replies.h"
#include "core/daemon/reload_status.h"
#include "core/daemon/service/current_config.h"
#include "core/daemon/service/current_quotas.h"
#include "core/daemon/service/set_views.h"
#include "core/daemon/worker.h"
#include "core/metrics/metrics.h"
#include "core/model/cloud_records.h"
#include "core/store/store.h"

namespace hostler::daemon {

/// Answers the requests of the API, one method each. Changes go to the loop as events, durable data
/// is read from the store, and the loop is queried for the state that it alone has. Any thread; the
/// worker makes the answers that read much.
class DaemonService final : public api::Service {
 public:
  /// What the service uses, a member for each. All of it must outlive the service.
  struct Dependencies {
    Loop* loop = nullptr;
    store::Store* store = nullptr;
    Worker* worker = nullptr;
    PendingReplies* replies = nullptr;
    metrics::Metrics* metrics = nullptr;
    MetricsFeed* feed = nullptr;
    const std::atomic<model::Revision>* durable = nullptr;  ///< The last revision that is.
    std::shared_ptr<Notifier<int>> events;                  ///< Notified when records are durable.
    std::shared_ptr<Notifier<model::WorkId>>
        output;  ///< Notified when output is, and at a job's end.
    std::filesystem::path state_dir;
    /// When the TLS certificate expires; nullopt without TLS. Any thread.
    std::function<std::optional<Wall>()> certificate_end;
    const CurrentQuotas* quotas = nullptr;
    const ReloadStatus* reload = nullptr;
    /// The driver of a set, as it is now. Any thread.
    DriverOf driver;
    /// Clouds::read_console().
    std::function<void(const std::string& set, model::ConsoleQuery query,
                       std::function<void(model::CloudResult<model::ConsoleText>)> done)>
        read_console;
    const CurrentConfig* config = nullptr;
  };
  explicit DaemonService(Dependencies uses) : uses_(std::move(uses)) {}

  void submit(const api::Principal& who, std::vector<model::WorkItem> jobs,
              api::Answer<std::vector<model::WorkId>> answer) override;
  void dry_run(const api::Principal& who, std::vector<model::WorkItem> jobs,
               api::Answer<std::string> answer) override;
  void cancel(const api::Principal& who, model::WorkId work, api::Answer<void> answer) override;
  void release(const api::Principal& who, model::WorkId work, api::Answer<void> answer) override;
  void release_held(const api::Principal& who,
                    api::Answer<std::vector<model::WorkId>> answer) override;
  void cancel_held(const api::Principal& who,
                   api::Answer<std::vector<model::WorkId>> answer) override;
  void job(const api::Principal& who, model::WorkId job, bool with_body,
           api::Answer<api::JobDetail> answer) override;
  void jobs(const api::Principal& who, const api::WorkFilter& filter,
            api::Answer<api::JobPage> answer) override;
  void submit_lease(const api::Principal& who, api::LeaseRows lease,
                    api::Answer<std::vector<model::WorkId>> answer) override;
  void dry_run_lease(const api::Principal& who, api::LeaseRows lease,
                     api::Answer<std::string> answer) override;
  void lease(const api::Principal& who, model::WorkId lease,
             api::Answer<api::LeaseDetail> answer) override;
  void leases(const api::Principal& who, const api::WorkFilter& filter,
              api::Answer<api::LeasePage> answer) override;
  void return_lease(const api::Principal& who, model::WorkId lease, bool used,
                    api::Answer<void> answer) override;
  void renew_lease(const api::Principal& who, model::WorkId lease, Duration term,
                   api::Answer<void> answer) override;

  void output(const api::Principal& who, model::WorkId job, const api::OutputQuery& query,
              api::Answer<api::OutputPart> answer) override;
  std::shared_ptr<void> on_new_output(model::WorkId job, std::function<void()> wake) override;
  void output_files(const api::Principal& who, model::WorkId job,
                    api::Answer<std::vector<api::OutputFile>> answer) override;
  Result<int> open_output_file(const api::Principal& who, model::WorkId job,
                               const std::string& path, bool partial) override;
  void remove_outputs(const api::Principal& who, model::WorkId job,
                      api::Answer<std::uint64_t> answer) override;
  void give_up_output(const api::Principal& who, model::WorkId job,
                      api::Answer<void> answer) override;
  void quotas(const api::Principal& who, const std::string& principal,
              api::Answer<std::vector<model::QuotaView>> answer) override;
  Result<bool> has_blob(const std::string& sha256) override;
  Result<std::unique_ptr<api::BlobWriter>> put_blob(const api::Principal& who,
                                                    const std::string& sha256) override;

  void instances(const api::Principal& who,
                 api::Answer<std::vector<model::InstanceView>> answer) override;
  void set_idle_behavior(const api::Principal& who, model::InstanceId instance,
                         model::IdleBehavior behavior, api::Answer<void> answer) override;
  void kill(const api::Principal& who, model::InstanceId instance, const std::string& reason,
            api::Answer<void> answer) override;
  void report_ready(const api::Principal& who, model::InstanceId instance,
                    api::Answer<void> answer) override;
  void console(const api::Principal& who, model::InstanceId instance,
               api::Answer<model::ConsoleView> answer) override;
  void pools(const api::Principal& who, api::Answer<std::vector<model::PoolView>> answer) override;
  void push(const api::Principal& who, const std::string& pool, model::Push push,
            api::Answer<model::PushAnswer> answer) override;
  void scaling_info(const api::Principal& who, const std::string& pool,
                    api::Answer<model::ScalingInfoView> answer) override;
  void types(const api::Principal& who, api::Answer<std::vector<model::TypeView>> answer) override;
  void sets(const api::Principal& who, api::Answer<std::vector<model::SetView>> answer) override;
  void accept_account(const api::Principal& who, const std::string& set,
                      api::Answer<void> answer) override;
  void believe(const api::Principal& who, const std::string& set, std::uint64_t list,
               api::Answer<void> answer) override;
  void give_up(const api::Principal& who, const std::string& set,
               api::Answer<void> answer) override;
  void gates(const api::Principal& who,
             api::Answer<std::vector<model::GateRecord>> answer) override;
  void open_gate(const api::Principal& who, const std::string& key,
                 api::Answer<void> answer) override;
  void prices(const api::Principal& who, const api::PriceQuery& query,
              api::Answer<api::PricesView> answer) override;
  void cost(const api::Principal& who, const api::CostQuery& query,
            api::Answer<model::CostView> answer) override;
  void shares(const api::Principal& who, api::Answer<model::SharesView> answer) override;
  void why(const api::Principal& who, const std::string& subject,
           api::Answer<api::WhyView> answer) override;

  void plan(const api::Principal& who, api::Answer<std::string> answer) override;
  void plan_snapshot(const api::Principal& who, api::Answer<std::string> answer) override;
  void dump(const api::Principal& who, api::Answer<api::DumpView> answer) override;
  void config_diff(const api::Principal& who, std::string text, const std::string& folder,
                   api::Answer<std::string> answer) override;

  void events(const api::Principal& who, model::Revision after, std::size_t limit,
              api::Answer<std::vector<model::LedgerRecord>> answer) override;
  std::shared_ptr<void> on_new_events(std::function<void()> wake) override;

  void backup(const api::Principal& who,
              api::Answer<std::shared_ptr<api::ByteSource>> answer) override;

  api::HealthView health() override;
  std::string metrics_text() override;

 private:
  /// kUnavailable while the store does not commit, so that no change would become durable;
  /// kConflict if the state is old.
  [[nodiscard]] Result<void> check_store() const;
  /// kConflict while an old state is only shown.
  [[nodiscard]] Result<void> check_state() const;
  /// kForbidden unless the principal may end or change the work; kConflict if it has ended.
  [[nodiscard]] Result<void> may_change(const api::Principal& who, model::WorkId work) const;
  /// Posts a change to the loop, which answers once it is durable. Refused at once, and not posted,
  /// while the store does not commit.
  template <class Event, class Answer>
  void request_change(Event event, Answer answer) {
    if (const auto able = check_store(); !able) return answer(tl::unexpected(able.error()));
    const auto ticket = uses_.replies->add(std::move(answer));
    if (!ticket) return;
    event.ticket = *ticket;
    uses_.loop->post(std::move(event));
  }
  /// For a change that tells no ids.
  static PendingReplies::Answer without_ids(api::Answer<void> answer);
  /// As the dispatcher checks it. kUnavailable while the disk has no room for jobs.
  Result<dispatch::Submit> submit_of(const api::Principal& who,
                                     std::vector<model::WorkItem> jobs) const;
  /// The row of work of any kind; kNotFound.
  [[nodiscard]] Result<model::WorkItem> stored_work(model::WorkId work, bool with_body) const;
  /// kForbidden if the principal may not see the work.
  static Result<void> may_read(const api::Principal& who, const model::WorkItem& work);
  /// kNotFound, or kForbidden if the principal may not see the work.
  Result<model::WorkItem> readable_work(const api::Principal& who, model::WorkId work,
                                        bool with_body = false) const;
  /// Without the work that the principal may not see.
  Result<store::Page<model::WorkItem>> page_of(const api::Principal& who,
                                               const api::WorkFilter& filter,
                                               model::WorkKind kind) const;
  /// As readable_work(); kForbidden also for who does not see all of it, kNotFound if its output
  /// was deleted.
  Result<model::WorkItem> job_with_output(const api::Principal& who, model::WorkId job) const;
  /// Removes the reasons of jobs that the principal does not see all of. The records themselves
  /// stay, because the revisions of a feed have no gaps.
  Result<void> hide_reasons(const api::Principal& who,
                            std::vector<model::LedgerRecord>& records) const;
  /// kNotFound if the output of this job, which has ended, was deleted.
  [[nodiscard]] Result<void> check_not_discarded(const model::WorkRecord& job) const;
  /// What is wrong with the site, as far as the loop does not know it; one sentence each.
  [[nodiscard]] std::vector<std::string> site_conditions() const;
  void set_store_gauges() const;

  const Dependencies uses_;
  /// Dry runs and dumps that are not answered yet.
  const std::shared_ptr<std::atomic<int>> dry_runs_ = std::make_shared<std::atomic<int>>(0);
  const std::shared_ptr<std::atomic<int>> dumps_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace hostler::daemon
