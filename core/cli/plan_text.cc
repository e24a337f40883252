#include "core/cli/plan_text.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/cli/gpus.h"
#include "core/cli/print.h"

namespace hostler::cli {
namespace {

using json::Value;

std::string number_of(const std::string& n, const std::string& what) {
  return n + " " + what + (n == "1" ? "" : "s");
}

/// "small in zone a of set west, pool default, spot, 0.05 per hour"
std::string offer(Value of) {
  std::string out = field(of, "type");
  if (of.has("zone")) out += " in zone " + field(of, "zone");
  out += " of set " + field(of, "set") + ", pool " + field(of, "pool");
  if (of.has("subnet")) out += ", subnet " + field(of, "subnet");
  if (field(of, "market") == "spot") out += ", spot";
  return out + ", " + field(of, "price_per_hour") + " per hour";
}

/// " for 3 of c-1, 2 of c-4"
std::string load(Value of) {
  std::string out;
  for (const Value one : of.at("load").children())
    out += (out.empty() ? " for " : ", ") + field(one, "count") + " of " + field(one, "work");
  return out;
}

std::string because(Value of) {
  const std::string reason = field(of, "reason");
  return reason.empty() ? reason : ": " + reason;
}

void print_action(Value action) {
  const std::string what = field(action, "action"), host = field(action, "host");
  if (what == "place") {
    say("place " + field(action, "count") + " of " + field(action, "work") + " on " + host);
  } else if (what == "create") {
    const std::string is_for = load(action), count = field(action, "count");
    say("create " + number_of(count, "host") + ": " + offer(action) +
        (count == "1" || is_for.empty() ? "" : ", each") + is_for + because(action));
    if (action.has("passed_over")) say("  cheaper, but not: " + field(action, "passed_over"));
  } else if (what == "shut_down") {
    say("shut down " + host + " [" + field(action, "code") + "]" + because(action));
  } else if (what == "close") {
    say("close " + host + " [" + field(action, "code") + "]: it gets no new work");
  } else if (what == "reserve") {
    say("reserve " + host + " for " + field(action, "work"));
  } else if (what == "drain") {
    say("drain " + host + because(action));
  } else {
    say((what == "wake" ? "switch on " : "switch off ") + host + load(action) + because(action));
  }
}

/// "2 start now, 1 gets a new host, 3 wait"
std::string fates(Value work) {
  struct Words {
    const char *key, *one, *several;
  };
  constexpr std::array kWords{
      Words{"host_ready", "starts now", "start now"},
      Words{"host_coming", "gets a host that boots already", "get hosts that boot already"},
      Words{"host_woken", "gets a host that is switched on", "get hosts that are switched on"},
      Words{"host_created", "gets a new host", "get new hosts"}, Words{"waits", "waits", "wait"}};
  std::string out;
  for (const Words& words : kWords)
    if (const std::string n = field(work, words.key); n != "0")
      out += (out.empty() ? "" : ", ") + n + " " + (n == "1" ? words.one : words.several);
  return out;
}

/// "8 vcpus and 16GiB, 2 gpus"; of tasks "8 slots".
std::string needs_text(Value work) {
  const Value needs = work.at("needs");
  if (field(work, "kind") == "task")
    return needs.has("slots") ? number_of(field(needs, "slots"), "slot") : "any size";
  return number_of(field(needs, "vcpus"), "vcpu") + " and " + field(needs, "ram") +
         (needs.has("gpus") ? ", " + gpus_text(needs.at("gpus")) : "");
}

void print_work(Value work) {
  const bool is_exclusive = work.at("exclusive").bool_or(false);
  say(field(work, "id") + " (" + field(work, "kind") + "s of " +
      (is_exclusive ? "a host with " : "") + needs_text(work) + ", priority " +
      field(work, "priority") + "): " + fates(work));
  if (field(work, "waits") == "0") return;
  for (const Value one : work.at("waiting_because").children())
    say("  [" + field(one, "code") + "]" + because(one));
  for (const Value one : work.at("not_bought").children())
    say("  not " + (one.has("type") ? offer(one) : std::string("bought")) + because(one));
}

std::string fate(Value job) {
  const std::string outcome = field(job, "outcome"), host = field(job, "host");
  const std::string on = job.has("type") ? " (" + offer(job) + ")" : "";
  std::string when;
  if (job.has("starts_in")) when = ", in about " + field(job, "starts_in");
  if (job.has("starts_in_at_most"))
    when += (when.empty() ? ", in at most " : ", at most ") + field(job, "starts_in_at_most");
  if (outcome == "host_ready") return "starts now on " + host + on;
  if (outcome == "host_coming") return "waits for " + host + ", which boots already" + on + when;
  if (outcome == "host_woken") return "waits for " + host + ", which is switched on" + on + when;
  if (outcome == "host_created") return "would create " + offer(job) + when;
  const Value why = job.at("waiting_because");
  return "waits [" + field(why, "code") + "]" + because(why);
}

}  // namespace

void print_plan(Value answer) {
  if (answer.at("actions").size() == 0 && answer.at("going").size() == 0) say("nothing to do");
  for (const Value action : answer.at("actions").children()) print_action(action);
  for (const Value one : answer.at("going").children())
    say("name " + field(one, "host") + " as going" + because(one));
  for (const Value work : answer.at("work").children()) print_work(work);
}

int show_dry_run(Value answer, bool as_json) {
  if (as_json) return print_json(answer);
  const bool is_lease = answer.has("leases");
  std::vector<std::pair<std::string, int>> runs;
  for (const Value one : answer.at(is_lease ? "leases" : "jobs").children()) {
    std::string text = fate(one);
    if (runs.empty() || runs.back().first != text) runs.emplace_back(std::move(text), 0);
    ++runs.back().second;
  }
  for (const auto& [text, count] : runs)
    say(number_of(std::to_string(count), is_lease ? "lease" : "job") + ": " + text);
  return exit_code::kOk;
}

void print_config_diff(Value answer) {
  for (const Value change : answer.at("changes").children()) {
    const std::string name = field(change, "name");
    const std::string from = field(change, "from"), to = field(change, "to");
    std::string text = ": what it names has changed";
    if (!from.empty() || !to.empty())
      text = ": " + (from.empty() ? "not set" : from) + " -> " + (to.empty() ? "not set" : to);
    say(field(change, "path") + (name.empty() ? "" : " (" + name + ")") + text +
        (change.at("needs_restart").bool_or(false) ? "; needs a restart" : ""));
  }
  if (answer.at("changes").size() == 0) say("nothing changes");
  for (const Value host : answer.at("hosts").children())
    say(field(host, "host") + " of pool " + field(host, "pool") + " would go [" +
        field(host, "code") + "]" + because(host));
  if (answer.at("restart").size() > 0)
    say("a reload would be refused as a whole: some of this needs a restart");
}

}  // namespace hostler::cli
