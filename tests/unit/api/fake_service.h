#pragma once

#include <gmock/gmock.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/api/routes.h"
#include "core/api/server.h"
#include "tests/temp_folder.h"

namespace hostler::api {

/// A daemon of few words: it says yes, keeps what it was asked, or fails with `error`.
class FakeService : public Service {
 public:
  std::optional<Error> error;           ///< Set before the server is asked.
  OutputPart output_part;               ///< Of every output that is asked for,
  std::deque<OutputPart> output_parts;  ///< once these were given, one an answer.
  model::WorkRecord job_record;         ///< Of every job that is asked for,
  std::string submitter = "user ann";   ///< and who has submitted it.
  std::vector<OutputFile> files{{"a/b", 7}};
  std::optional<Error> file_error;  ///< Of opening one of `files`.
  bool knows_all_costs = true;      ///< As for readers and admins.
  std::vector<model::LedgerRecord> ledger;
  std::function<void()> on_events;  ///< Called when the ledger is read, by whoever reads it.
  std::vector<model::SetView> set_views;
  std::vector<model::InstanceView> instance_views;
  std::vector<model::PoolView> pool_views;
  std::vector<model::GateRecord> gate_records;
  DumpView dump_view;

  model::Push pushed;              ///< The last one,
  model::PushAnswer push_answer;   ///< and the answer to all.
  model::ScalingInfoView scaling;  ///< Of every pool that is asked about.

  LeaseRows lease_rows;                     ///< The answer for every lease.
  std::optional<model::InstanceView> host;  ///< That it has.
  std::function<void()> during_return;      ///< Called before a return is answered.
  std::optional<Error> return_error;        ///< The answer to every return.

  /// "submit 2 by token ci", one for each call, in order.
  std::vector<std::string> calls() const;
  std::vector<model::WorkItem> submitted() const;
  /// Wakes whoever follows.
  void ring();

  void submit(const Principal& who, std::vector<model::WorkItem> jobs,
              Answer<std::vector<model::WorkId>> answer) override;
  void cancel(const Principal& who, model::WorkId work, Answer<void> answer) override;
  void release(const Principal& who, model::WorkId work, Answer<void> answer) override;
  void release_held(const Principal& who, Answer<std::vector<model::WorkId>> answer) override;
  void cancel_held(const Principal& who, Answer<std::vector<model::WorkId>> answer) override;
  void job(const Principal& who, model::WorkId job, bool with_body,
           Answer<JobDetail> answer) override;
  void jobs(const Principal& who, const WorkFilter& filter, Answer<JobPage> answer) override;
  void submit_lease(const Principal& who, LeaseRows lease,
                    Answer<std::vector<model::WorkId>> answer) override;
  void dry_run_lease(const Principal& who, LeaseRows lease, Answer<std::string> answer) override;
  void lease(const Principal& who, model::WorkId lease, Answer<LeaseDetail> answer) override;
  void leases(const Principal& who, const WorkFilter& filter, Answer<LeasePage> answer) override;
  void return_lease(const Principal& who, model::WorkId lease, bool used,
                    Answer<void> answer) override;
  void renew_lease(const Principal& who, model::WorkId lease, Duration term,
                   Answer<void> answer) override;
  void output(const Principal& who, model::WorkId job, const OutputQuery& query,
              Answer<OutputPart> answer) override;
  std::shared_ptr<void> on_new_output(model::WorkId job, std::function<void()> wake) override;
  void output_files(const Principal& who, model::WorkId job,
                    Answer<std::vector<OutputFile>> answer) override;
  Result<int> open_output_file(const Principal& who, model::WorkId job, const std::string& path,
                               bool partial) override;
  void remove_outputs(const Principal& who, model::WorkId job,
                      Answer<std::uint64_t> answer) override;
  void quotas(const Principal& who, const std::string& principal,
              Answer<std::vector<model::QuotaView>> answer) override;
  Result<bool> has_blob(const std::string& sha256) override;
  Result<std::unique_ptr<BlobWriter>> put_blob(const Principal& who,
                                               const std::string& sha256) override;
  void instances(const Principal& who, Answer<std::vector<model::InstanceView>> answer) override;
  void set_idle_behavior(const Principal& who, model::InstanceId instance,
                         model::IdleBehavior behavior, Answer<void> answer) override;
  void kill(const Principal& who, model::InstanceId instance, const std::string& reason,
            Answer<void> answer) override;
  void report_ready(const Principal& who, model::InstanceId instance, Answer<void> answer) override;
  void console(const Principal& who, model::InstanceId instance,
               Answer<model::ConsoleView> answer) override;
  void pools(const Principal& who, Answer<std::vector<model::PoolView>> answer) override;
  void push(const Principal& who, const std::string& pool, model::Push push,
            Answer<model::PushAnswer> answer) override;
  void scaling_info(const Principal& who, const std::string& pool,
                    Answer<model::ScalingInfoView> answer) override;
  void types(const Principal& who, Answer<std::vector<model::TypeView>> answer) override;
  void sets(const Principal& who, Answer<std::vector<model::SetView>> answer) override;
  void accept_account(const Principal& who, const std::string& set, Answer<void> answer) override;
  void believe(const Principal& who, const std::string& set, std::uint64_t list,
               Answer<void> answer) override;
  void give_up_output(const Principal& who, model::WorkId job, Answer<void> answer) override;
  void give_up(const Principal& who, const std::string& set, Answer<void> answer) override;
  void gates(const Principal& who, Answer<std::vector<model::GateRecord>> answer) override;
  void open_gate(const Principal& who, const std::string& key, Answer<void> answer) override;
  void shares(const Principal& who, Answer<model::SharesView> answer) override;
  void dry_run(const Principal& who, std::vector<model::WorkItem> jobs,
               Answer<std::string> answer) override;
  void plan(const Principal& who, Answer<std::string> answer) override;
  void plan_snapshot(const Principal& who, Answer<std::string> answer) override;
  void dump(const Principal& who, Answer<DumpView> answer) override;
  void config_diff(const Principal& who, std::string text, const std::string& folder,
                   Answer<std::string> answer) override;
  void prices(const Principal& who, const PriceQuery& query, Answer<PricesView> answer) override;
  void cost(const Principal& who, const CostQuery& query, Answer<model::CostView> answer) override;
  void why(const Principal& who, const std::string& subject, Answer<WhyView> answer) override;
  void events(const Principal& who, model::Revision after, std::size_t limit,
              Answer<std::vector<model::LedgerRecord>> answer) override;
  std::shared_ptr<void> on_new_events(std::function<void()> wake) override;
  void backup(const Principal& who, Answer<std::shared_ptr<ByteSource>> answer) override;
  HealthView health() override;
  std::string metrics_text() override { return "hostler_up 1\n"; }

 private:
  void note(std::string call);
  /// "jobs failed queued 100 by user ann"
  void note_list(std::string call, const WorkFilter& filter, const Principal& who);
  template <class T>
  void give(Answer<T>& answer, T value) {
    if (error) return answer(tl::unexpected(*error));
    answer(std::move(value));
  }

  mutable std::mutex mutex_;
  std::vector<std::string> calls_;
  std::vector<model::WorkItem> submitted_;
  std::function<void()> wake_;
};

/// The real server over a fake service, on a unix socket in a folder of its own, and on TCP with
/// tokens "ReadReadRead", "SubmitSubmit", "AdminAdmin" and, for the pool "gpu", "ScaleScale".
class ApiTest : public testing::Test {
 protected:
  void SetUp() override;
  [[nodiscard]] ServerOptions options() const;
  [[nodiscard]] Result<std::unique_ptr<Server>> listen(const ServerOptions& options);

  test::TempFolder folder;
  std::string socket = folder / "hostler.sock";
  Limits limits;
  FakeService service;
  std::unique_ptr<Server> server;
};

}  // namespace hostler::api
