#include "tests/unit/api/fake_service.h"

#include <fcntl.h>

#include "core/crypto/hash.h"

namespace hostler::api {
namespace {

class Sink final : public BlobWriter {
 public:
  Result<void> append(std::string_view) override { return {}; }
  Result<void> finish() override { return {}; }
};

}  // namespace

std::vector<std::string> FakeService::calls() const {
  const std::scoped_lock lock(mutex_);
  return calls_;
}

std::vector<model::WorkItem> FakeService::submitted() const {
  const std::scoped_lock lock(mutex_);
  return submitted_;
}

void FakeService::ring() {
  std::function<void()> wake;
  {
    const std::scoped_lock lock(mutex_);
    wake = wake_;
  }
  if (wake) wake();
}

void FakeService::note(std::string call) {
  const std::scoped_lock lock(mutex_);
  calls_.push_back(std::move(call));
}

void FakeService::note_list(std::string call, const WorkFilter& filter, const Principal& who) {
  for (const auto state : filter.states) call += std::string(" ") + model::to_string(state);
  note(call + " " + std::to_string(filter.limit) + " by " + who.name);
}

void FakeService::submit(const Principal& who, std::vector<model::WorkItem> jobs,
                         Answer<std::vector<model::WorkId>> answer) {
  note("submit " + std::to_string(jobs.size()) + " by " + who.name);
  std::vector<model::WorkId> ids;
  for (std::size_t i = 0; i < jobs.size(); ++i) ids.push_back({i + 1});
  {
    const std::scoped_lock lock(mutex_);
    submitted_ = std::move(jobs);
  }
  give(answer, std::move(ids));
}

void FakeService::release(const Principal& who, model::WorkId work, Answer<void> answer) {
  note("release " + work.text() + " by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer({});
}

void FakeService::release_held(const Principal& who, Answer<std::vector<model::WorkId>> answer) {
  note("release held by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer(std::vector<model::WorkId>{{7}, {9}});
}

void FakeService::cancel_held(const Principal& who, Answer<std::vector<model::WorkId>> answer) {
  note("cancel held by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer(std::vector<model::WorkId>{});
}

void FakeService::cancel(const Principal& who, model::WorkId work, Answer<void> answer) {
  note("cancel " + work.text() + " by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer({});
}

void FakeService::remove_outputs(const Principal& who, model::WorkId job,
                                 Answer<std::uint64_t> answer) {
  note("remove_outputs " + job.text() + " by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer(std::uint64_t{7});
}

void FakeService::give_up_output(const Principal& who, model::WorkId job, Answer<void> answer) {
  note("give_up_output " + job.text() + " by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer({});
}

void FakeService::quotas(const Principal& who, const std::string& principal,
                         Answer<std::vector<model::QuotaView>> answer) {
  note("quotas " + principal + " by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  model::QuotaView view;
  view.principal = who.name;
  view.role = who.role;
  view.quota.jobs_waiting_max = 10;
  view.quota.priority_max = -1;
  view.quota.running_price_per_hour_max = model::Micros{2'500'000};
  view.jobs_waiting = 3;
  view.output_bytes = 4096;
  answer(std::vector{view});
}

void FakeService::job(const Principal& who, model::WorkId id, bool, Answer<JobDetail> answer) {
  note("job " + id.text() + " by " + who.name);
  JobDetail out;
  out.job.record = job_record;
  out.job.record.id = id;
  out.job.principal = submitter;
  out.job.body = std::make_shared<const std::string>(
      R"({"script":"true","env":{"PASSWORD":"hush"},"stdin":"hush"})");
  give(answer, std::move(out));
}

void FakeService::jobs(const Principal& who, const WorkFilter& filter, Answer<JobPage> answer) {
  note_list("jobs", filter, who);
  give(answer, JobPage{});
}

void FakeService::output(const Principal&, model::WorkId, const OutputQuery& query,
                         Answer<OutputPart> answer) {
  note("output of attempt " + std::to_string(query.attempt) + " from " +
       std::to_string(query.offset));
  OutputPart part = output_part;
  {
    const std::scoped_lock lock(mutex_);
    if (!output_parts.empty()) {
      part = std::move(output_parts.front());
      output_parts.pop_front();
    }
  }
  give(answer, std::move(part));
}

namespace {

/// "one", "two", and then the end, or an error.
class TwoPieces final : public ByteSource {
 public:
  Result<std::string> next() override {
    ++given_;
    return given_ == 1 ? "one" : given_ == 2 ? "two" : "";
  }

 private:
  int given_ = 0;
};

}  // namespace

void FakeService::backup(const Principal& who, Answer<std::shared_ptr<ByteSource>> answer) {
  note("backup by " + who.name);
  give(answer, std::shared_ptr<ByteSource>(std::make_shared<TwoPieces>()));
}

std::shared_ptr<void> FakeService::on_new_output(model::WorkId, std::function<void()> wake) {
  return on_new_events(std::move(wake));
}

void FakeService::output_files(const Principal&, model::WorkId,
                               Answer<std::vector<OutputFile>> answer) {
  give(answer, std::vector<OutputFile>(files));
}

Result<int> FakeService::open_output_file(const Principal&, model::WorkId, const std::string& path,
                                          bool partial) {
  note("file " + path + (partial ? " partial" : ""));
  if (file_error) return tl::unexpected(*file_error);
  if (error) return tl::unexpected(*error);
  return ::open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
}

Result<bool> FakeService::has_blob(const std::string&) { return false; }

Result<std::unique_ptr<BlobWriter>> FakeService::put_blob(const Principal& who,
                                                          const std::string& sha256) {
  note("blob " + sha256 + " by " + who.name);
  if (error) return tl::unexpected(*error);
  return std::unique_ptr<BlobWriter>(std::make_unique<Sink>());
}

void FakeService::instances(const Principal&, Answer<std::vector<model::InstanceView>> answer) {
  give(answer, instance_views);
}

void FakeService::report_ready(const Principal& who, model::InstanceId instance,
                               Answer<void> answer) {
  note("ready " + instance.text() + " by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer({});
}

void FakeService::set_idle_behavior(const Principal& who, model::InstanceId instance,
                                    model::IdleBehavior behavior, Answer<void> answer) {
  note(std::string(to_string(behavior)) + " " + instance.text() + " by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer({});
}

void FakeService::kill(const Principal& who, model::InstanceId instance, const std::string& reason,
                       Answer<void> answer) {
  note("kill " + instance.text() + " by " + who.name + ": " + reason);
  if (error) return answer(tl::unexpected(*error));
  answer({});
}

void FakeService::open_gate(const Principal& who, const std::string& key, Answer<void> answer) {
  note("open gate " + key + " by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer({});
}

void FakeService::pools(const Principal&, Answer<std::vector<model::PoolView>> answer) {
  give(answer, pool_views);
}

void FakeService::types(const Principal&, Answer<std::vector<model::TypeView>> answer) {
  give(answer, std::vector<model::TypeView>{});
}

void FakeService::sets(const Principal&, Answer<std::vector<model::SetView>> answer) {
  give(answer, set_views);
}

void FakeService::accept_account(const Principal& who, const std::string& set,
                                 Answer<void> answer) {
  note("accept-account " + set + " by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer({});
}

void FakeService::believe(const Principal& who, const std::string& set, std::uint64_t list,
                          Answer<void> answer) {
  note("believe list " + std::to_string(list) + " of " + set + " by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer({});
}

void FakeService::console(const Principal& who, model::InstanceId instance,
                          Answer<model::ConsoleView> answer) {
  note("console " + instance.text() + " by " + who.name);
  give(answer, model::ConsoleView{.text = "boot\nlogin:", .as_of = Wall{1'000'000}, .cut = true});
}

void FakeService::give_up(const Principal& who, const std::string& set, Answer<void> answer) {
  note("give up " + set + " by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer({});
}

void FakeService::gates(const Principal&, Answer<std::vector<model::GateRecord>> answer) {
  give(answer, gate_records);
}

void FakeService::dry_run(const Principal& who, std::vector<model::WorkItem> jobs,
                          Answer<std::string> answer) {
  note("dry_run " + std::to_string(jobs.size()) + " by " + who.name);
  {
    const std::scoped_lock lock(mutex_);
    submitted_ = std::move(jobs);
  }
  answer(R"({"jobs":[{"outcome":"host_ready","host":"h-1","starts_in":"0s"}]})");
}

void FakeService::plan(const Principal&, Answer<std::string> answer) {
  note("plan");
  answer(R"({"version":1,"actions":[],"work":[]})");
}

void FakeService::plan_snapshot(const Principal&, Answer<std::string> answer) {
  note("plan_snapshot");
  answer(R"({"version":1,"sets":[],"pools":[]})");
}

void FakeService::dump(const Principal&, Answer<DumpView> answer) {
  note("dump");
  give(answer, dump_view);
}

void FakeService::config_diff(const Principal&, std::string text, const std::string& folder,
                              Answer<std::string> answer) {
  note("config_diff " + text + " in " + folder);
  answer(R"({"changes":[],"restart":[],"hosts":[],"problems":[]})");
}

void FakeService::shares(const Principal&, Answer<model::SharesView> answer) {
  note("shares");
  model::SharesView view{
      .half_life = std::chrono::hours(168), .use = {3'000'000}, .principals = {}};
  view.principals.push_back({.principal = "user ann",
                             .use = {1'000'000},
                             .part = 1.0 / 3,
                             .price_per_hour = {20'000},
                             .vcpus = 2,
                             .running = 1,
                             .waiting = 5});
  answer(std::move(view));
}

void FakeService::prices(const Principal&, const PriceQuery& query, Answer<PricesView> answer) {
  note("prices " + query.set + " " + query.type);
  give(answer,
       PricesView{{{"west", "small", "z1", model::Market::kSpot, {{1'000'000}, {12'345}}}}, true});
}

void FakeService::cost(const Principal&, const CostQuery& query, Answer<model::CostView> answer) {
  note("cost " + std::to_string(static_cast<int>(query.by)) + " " + std::to_string(query.since.us) +
       " " + std::to_string(query.until.us) + " " + std::to_string(query.limit));
  model::CostView view;
  view.since = query.since;
  view.until = {1'795'000'000'000'000};
  if (knows_all_costs) {
    view.total = model::Micros{2'500'000};
    view.unused = model::Micros{500'000};
  }
  view.rows.push_back({"user ann", {2'000'000}, 3'600'000'000});
  give(answer, std::move(view));
}

void FakeService::why(const Principal&, const std::string& subject, Answer<WhyView> answer) {
  note("why " + subject);
  WhyView view;
  view.subject = subject;
  give(answer, std::move(view));
}

void FakeService::events(const Principal&, model::Revision after, std::size_t,
                         Answer<std::vector<model::LedgerRecord>> answer) {
  if (on_events) on_events();
  std::vector<model::LedgerRecord> out;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& one : ledger)
      if (one.rev > after) out.push_back(one);
  }
  give(answer, std::move(out));
}

std::shared_ptr<void> FakeService::on_new_events(std::function<void()> wake) {
  const std::scoped_lock lock(mutex_);
  wake_ = std::move(wake);
  return std::shared_ptr<void>(nullptr, [this](void*) {
    const std::scoped_lock inner(mutex_);
    wake_ = nullptr;
  });
}

HealthView FakeService::health() {
  HealthView out;
  out.ok = !error;
  if (error) out.problems.push_back({"store", error->message});
  return out;
}

void ApiTest::SetUp() {
  limits.submit_bytes_max = 8192;
  limits.submit_jobs_max = 3;
  limits.blob_bytes_max = 100'000;
  auto made = listen(options());
  ASSERT_TRUE(made) << made.error().message;
  server = std::move(*made);
  server->start();
}

ServerOptions ApiTest::options() const {
  ServerOptions out;
  out.unix_socket = socket;
  out.tcp_address = "127.0.0.1";
  return out;
}

Result<std::unique_ptr<Server>> ApiTest::listen(const ServerOptions& options) {
  const auto token = [](const char* name, Role role, const char* text) {
    return Token{name, role, crypto::sha256_hex(text), {}};
  };
  Token scaler = token("sched", Role::kScaler, "ScaleScale");
  scaler.pools = {"gpu"};
  return Server::listen(
      options,
      {token("look", Role::kRead, "ReadReadRead"), token("ci", Role::kSubmit, "SubmitSubmit"),
       token("ops", Role::kAdmin, "AdminAdmin"), scaler},
      make_site(service, limits));
}

}  // namespace hostler::api
