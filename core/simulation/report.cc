#include "core/simulation/report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>

#include "core/base/units.h"
#include "core/json/writer.h"

namespace hostler::simulation {
namespace {

using Text = std::function<std::string(const Report&)>;

std::string number(double value) {
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), "%.2f", value);
  return out.data();
}

double used_part(const Report& r) {
  return r.vcpu_hours_bought > 0 ? r.vcpu_hours_used / r.vcpu_hours_bought : 0;
}

struct Line {
  std::string head;
  Text text;
};

std::vector<Line> lines(std::string_view currency) {
  const auto count = [](auto Report::*member) {
    return [member](const Report& r) { return std::to_string(r.*member); };
  };
  const auto time = [](Duration Report::*member) {
    return [member](const Report& r) {
      return r.has_waits ? format_duration(r.*member) : std::string("-");
    };
  };
  return {
      {"jobs submitted", count(&Report::submitted)},
      {"jobs refused", count(&Report::refused)},
      {"jobs succeeded", count(&Report::succeeded)},
      {"jobs failed", count(&Report::failed)},
      {"jobs waiting in the end", count(&Report::waiting)},
      {"jobs running in the end", count(&Report::running)},
      {"attempts started again", count(&Report::started_again)},
      {"wait, median", time(&Report::wait_median)},
      {"wait, 95 %", time(&Report::wait_p95)},
      {"wait, longest", time(&Report::wait_most)},
      {"creates refused", count(&Report::creates_refused)},
      {"hosts created", count(&Report::hosts)},
      {"hosts never ready", count(&Report::never_ready)},
      {"hosts never used", count(&Report::never_used)},
      {"hosts at once", count(&Report::hosts_at_once)},
      {"host hours", [](const Report& r) { return number(r.host_hours); }},
      {"vcpus used", [](const Report& r) { return number(used_part(r) * 100) + " %"; }},
      {"gates shut", count(&Report::gates)},
      {"cost" + (currency.empty() ? std::string() : ", " + std::string(currency)),
       [](const Report& r) { return number(r.cost); }},
  };
}

/// Of the tasks of outside schedulers.
std::vector<Line> task_lines() {
  const auto count = [](auto TaskFigures::*member) {
    return [member](const Report& r) { return std::to_string(r.tasks.*member); };
  };
  const auto time = [](Duration TaskFigures::*member) {
    return [member](const Report& r) {
      return r.tasks.has_waits ? format_duration(r.tasks.*member) : std::string("-");
    };
  };
  return {
      {"tasks arrived", count(&TaskFigures::arrived)},
      {"tasks ended", count(&TaskFigures::ended)},
      {"tasks waiting in the end", count(&TaskFigures::waiting)},
      {"tasks running in the end", count(&TaskFigures::running)},
      {"tasks that never fit", count(&TaskFigures::never_fit)},
      {"tasks started again", count(&TaskFigures::started_again)},
      {"tasks' wait, mean", time(&TaskFigures::wait_mean)},
      {"tasks' wait, median", time(&TaskFigures::wait_median)},
      {"tasks' wait, 95 %", time(&TaskFigures::wait_p95)},
      {"tasks' wait, longest", time(&TaskFigures::wait_most)},
      {"pushes", count(&TaskFigures::pushes)},
      {"pushes refused", count(&TaskFigures::pushes_refused)},
  };
}

/// Those of tasks only if there were some.
std::vector<Line> lines_for(const std::vector<Named>& reports, std::string_view currency) {
  std::vector<Line> out = lines(currency);
  const auto pushes = [](const Named& one) { return one.report.tasks.pushes > 0; };
  if (std::ranges::any_of(reports, pushes))
    for (Line& line : task_lines()) out.push_back(std::move(line));
  return out;
}

void write_tasks(json::Writer& w, const TaskFigures& tasks) {
  const auto seconds = [](Duration d) { return std::chrono::duration<double>(d).count(); };
  w.key("tasks").begin_object().member("arrived", tasks.arrived).member("ended", tasks.ended);
  w.member("waiting", tasks.waiting).member("running", tasks.running);
  w.member("never_fit", tasks.never_fit).member("started_again", tasks.started_again);
  w.member("pushes", tasks.pushes).member("pushes_refused", tasks.pushes_refused);
  w.member("refusal", tasks.refusal).key("wait_seconds");
  if (tasks.has_waits)
    w.begin_object()
        .member("mean", seconds(tasks.wait_mean))
        .member("median", seconds(tasks.wait_median))
        .member("p95", seconds(tasks.wait_p95))
        .member("longest", seconds(tasks.wait_most))
        .end_object();
  else
    w.null();
  w.end_object();
}

void append(std::string& out, std::string_view text, std::size_t width) {
  out.append(width > text.size() ? width - text.size() : 0, ' ').append(text);
}

}  // namespace

std::string to_text(const std::vector<Named>& reports, std::string_view currency) {
  constexpr std::size_t kHeadWidth = 26, kWidthMin = 12;
  std::size_t width = kWidthMin;
  for (const Named& one : reports) width = std::max(width, one.name.size() + 2);
  std::string out(kHeadWidth, ' ');
  for (const Named& one : reports) append(out, one.name, width);
  out += "\n";
  for (const Line& line : lines_for(reports, currency)) {
    out += line.head;
    out.append(kHeadWidth - std::min(kHeadWidth, line.head.size()), ' ');
    for (const Named& one : reports) append(out, line.text(one.report), width);
    out += "\n";
  }
  for (const auto& [name, r] : reports) {
    if (r.reached_limit)
      out += name + ": stopped after " + format_duration(r.lasted) +
             " of the scenario, at the limit of events\n";
    if (!r.refusal.empty()) out += name + ": the first refusal: " + r.refusal + "\n";
    if (!r.tasks.refusal.empty())
      out += name + ": the first refusal of a push: " + r.tasks.refusal + "\n";
    if (r.skipped > 0)
      out +=
          name + ": " + std::to_string(r.skipped) + " jobs of traces never ran, and were skipped\n";
  }
  return out;
}

std::string to_json(const std::vector<Named>& reports, std::string_view currency) {
  const auto seconds = [](Duration d) { return std::chrono::duration<double>(d).count(); };
  std::string out;
  json::Writer w(out);
  w.begin_object().member("version", 1).member("currency", currency).key("runs").begin_array();
  for (const auto& [name, r] : reports) {
    w.begin_object().member("name", name).member("seconds", seconds(r.lasted));
    w.member("reached_limit", r.reached_limit).key("jobs").begin_object();
    w.member("submitted", r.submitted).member("refused", r.refused);
    w.member("refusal", r.refusal).member("skipped", r.skipped);
    w.member("succeeded", r.succeeded).member("failed", r.failed).member("cancelled", r.cancelled);
    w.member("waiting", r.waiting).member("running", r.running);
    w.member("started_again", r.started_again).end_object();
    w.key("wait_seconds");
    if (r.has_waits)
      w.begin_object()
          .member("median", seconds(r.wait_median))
          .member("p95", seconds(r.wait_p95))
          .member("longest", seconds(r.wait_most))
          .end_object();
    else
      w.null();
    w.key("hosts").begin_object().member("created", r.hosts);
    w.member("creates_refused", r.creates_refused);
    w.member("never_used", r.never_used).member("never_ready", r.never_ready);
    w.member("at_once", r.hosts_at_once).member("hours", r.host_hours).end_object();
    w.member("vcpu_hours_bought", r.vcpu_hours_bought).member("vcpu_hours_used", r.vcpu_hours_used);
    if (r.tasks.pushes > 0) write_tasks(w, r.tasks);
    w.member("gates_shut", r.gates).member("cost", r.cost);
    w.member("plans", r.plans).member("events", r.events).end_object();
  }
  w.end_array().end_object();
  return out;
}

}  // namespace hostler::simulation
