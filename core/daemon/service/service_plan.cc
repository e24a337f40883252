#include <utility>

#include "core/config/diff.h"
#include "core/config/key_changes.h"
#include "core/config/load.h"
#include "core/daemon/from_config.h"
#include "core/daemon/service/admission.h"
#include "core/daemon/service/service.h"
#include "core/json/writer.h"
#include "core/planning/answer.h"
#include "core/planning/change.h"
#include "core/planning/write.h"

/// Requests for plans. The loop copies what a plan depends on; the worker makes the plan.
namespace hostler::daemon {
namespace {

/// At once. Each copies what a plan depends on, on the loop.
constexpr int kDryRunsMax = 4;

planning::Question question_of(const dispatch::Look& look, Now now) {
  return {.policy = *look.policy, .snapshot = *look.snapshot, .time = now.wall};
}

/// Runs the task on the worker, or answers that too much waits there.
template <class Task>
void post(Worker& worker, const api::Answer<std::string>& answer, Task task) {
  if (!worker.post([answer, task = std::move(task)]() mutable { answer(task()); }))
    answer(fail(Errc::kUnavailable, "too much is being computed now; ask again later"));
}

/// Answers with what `make` makes of the present question, on the worker.
template <class Make>
void ask(Loop& loop, Worker& worker, api::Answer<std::string> answer, Make make) {
  loop.query([&worker, answer = std::move(answer), make = std::move(make)](
                 const dispatch::Queries& state, Now now) {
    auto look = state.look(now);
    if (!look) return answer(tl::unexpected(look.error()));
    post(worker, answer, [look = *std::move(look), make, now]() -> Result<std::string> {
      return make(question_of(look, now));
    });
  });
}

/// Answers with what would become of the work of a submit, which is of this kind.
template <class Submit>
void try_out(Loop& loop, Worker& worker, Submit event, const char* kind,
             api::Answer<std::string> answer) {
  loop.query([&worker, kind, event = std::move(event), answer = std::move(answer)](
                 const dispatch::Queries& state, Now now) {
    auto look = state.trial(event, now);
    if (!look) return answer(tl::unexpected(look.error()));
    post(worker, answer, [look = *std::move(look), kind, now]() -> Result<std::string> {
      const planning::Trial trial{.question = question_of(look.look, now),
                                  .kind = kind,
                                  .jobs = look.jobs,
                                  .beyond = look.beyond,
                                  .boots = look.boots};
      return planning::write_trial(
          trial, scheduler::make_plan(trial.question.snapshot, trial.question.policy));
    });
  });
}

/// The state folder of the command line, if there is one: it goes before that of the file.
std::optional<std::filesystem::path> chosen_state_dir(const config::Config& current,
                                                      const std::filesystem::path& folder) {
  config::LoadOptions options;
  options.read_files = false;
  if (config::read_text(current.text, folder, options).config.state_dir == current.state_dir)
    return std::nullopt;
  return current.state_dir;
}

void write_changes(json::Writer& w, const config::Config& old, const config::Config& fresh) {
  w.key("changes").begin_array();
  for (const auto& change : config::key_changes(old, fresh)) {
    w.begin_object().member("path", change.path);
    if (!change.name.empty()) w.member("name", change.name);
    if (!change.from.empty()) w.member("from", change.from);
    if (!change.to.empty()) w.member("to", change.to);
    w.member("needs_restart", change.needs_restart).end_object();
  }
  w.end_array().key("restart").begin_array();
  for (const auto& key : config::diff(old, fresh).restart) w.value(to_string(key));
  w.end_array();
}

void write_hosts(json::Writer& w, const planning::Question& now, const model::SitePolicy& fresh) {
  std::map<model::InstanceId, std::uint32_t> pools;
  for (const auto& host : now.snapshot.hosts) pools[host.id] = host.pool;
  for (const auto& one : planning::shutdowns_by(now, fresh)) {
    w.begin_object().member("host", one.host.text());
    w.member("pool", now.policy.pools[pools.at(one.host)].name);
    w.member("code", model::to_string(one.code));
    w.member("reason", one.reason).end_object();
  }
}

/// The answer about a configuration that could not be read: only its problems.
std::string problems_as_json(const std::vector<Error>& problems) {
  std::string out;
  json::Writer w(out);
  w.begin_object().key("changes").begin_array().end_array();
  w.key("restart").begin_array().end_array().key("hosts").begin_array().end_array();
  w.key("problems").begin_array();
  for (const Error& problem : problems) w.value(problem.message);
  w.end_array().end_object();
  return out;
}

std::string compare(const config::Config& old, const config::Config& fresh,
                    const planning::Question& now) {
  std::string out;
  json::Writer w(out);
  w.begin_object();
  write_changes(w, old, fresh);
  w.key("hosts").begin_array();
  // Else the reload is refused, and nothing changes.
  if (config::diff(old, fresh).restart.empty()) write_hosts(w, now, fresh.site);
  w.end_array().key("problems").begin_array().end_array().end_object();
  return out;
}

}  // namespace

void DaemonService::plan(const api::Principal&, api::Answer<std::string> answer) {
  ask(*uses_.loop, *uses_.worker, std::move(answer), [](const planning::Question& question) {
    return planning::write_answer(question,
                                  scheduler::make_plan(question.snapshot, question.policy));
  });
}

void DaemonService::plan_snapshot(const api::Principal&, api::Answer<std::string> answer) {
  ask(*uses_.loop, *uses_.worker, std::move(answer),
      [](const planning::Question& question) { return planning::write_question(question); });
}

void DaemonService::dry_run(const api::Principal& who, std::vector<model::WorkItem> jobs,
                            api::Answer<std::string> answer) {
  if (!admit(dry_runs_, kDryRunsMax, "dry runs", answer)) return;
  if (const auto able = check_store(); !able) return answer(tl::unexpected(able.error()));
  auto event = submit_of(who, std::move(jobs));
  if (!event) return answer(tl::unexpected(std::move(event.error())));
  try_out(*uses_.loop, *uses_.worker, *std::move(event), "jobs", std::move(answer));
}

void DaemonService::dry_run_lease(const api::Principal& who, api::LeaseRows lease,
                                  api::Answer<std::string> answer) {
  if (!admit(dry_runs_, kDryRunsMax, "dry runs", answer)) return;
  if (const auto able = check_store(); !able) return answer(tl::unexpected(able.error()));
  if (const auto room = uses_.store->check_room(); !room)
    return answer(tl::unexpected(room.error()));
  try_out(*uses_.loop, *uses_.worker,
          dispatch::SubmitLease{0, who.name, std::move(lease.work), std::move(lease.terms)},
          "leases", std::move(answer));
}

void DaemonService::config_diff(const api::Principal&, std::string text, const std::string& folder,
                                api::Answer<std::string> answer) {
  ask(*uses_.loop, *uses_.worker, std::move(answer),
      [current = uses_.config->get(), text = std::move(text),
       folder](const planning::Question& now) {
        config::LoadOptions options;
        options.state_dir = chosen_state_dir(*current, folder);
        const config::Reading fresh = config::read_text(text, folder, options);
        return fresh.problems.empty() ? compare(*current, fresh.config, now)
                                      : problems_as_json(fresh.problems);
      });
}

}  // namespace hostler::daemon
