#include "core/base/units.h"
#include "core/cli/commands.h"
#include "core/cli/gpus.h"
#include "core/cli/work_rows.h"

/// The command `why`: prints why a job, lease, instance, pool, set or gate is in its state.
namespace hostler::cli {
namespace {

/// ": text", or nothing if `text` is empty.
std::string because(const std::string& text) { return text.empty() ? text : ": " + text; }

std::string count(const std::string& n, const std::string& what) {
  return n + " " + what + (n == "1" ? "" : "s");
}

void print_conditions(json::Value of) {
  for (const json::Value text : of.at("conditions").children())
    say("  " + std::string(text.text()));
}

/// "gpus: 2 free, 1 used, 1 bad; guard: bpf", and each card that was listed.
void print_cards(json::Value instance) {
  const auto gpus = instance.at("gpus");
  std::string counts;
  for (const char* state : {"free", "used", "bad", "unknown"})
    if (gpus.at(state).int_or(0) > 0)
      counts += (counts.empty() ? "" : ", ") + field(gpus, state) + " " + state;
  say("  gpus: " + counts + (gpus.has("guard") ? "; guard: " + field(gpus, "guard") : ""));
  for (const json::Value card : instance.at("cards").children())
    say("    " + (card.has("index") ? field(card, "index") + " " + field(card, "kind") + " " : "") +
        field(card, "uuid") + " is " + field(card, "state") +
        (card.has("attempt") ? ", " + field(card, "attempt") + " has it" : "") +
        because(field(card, "problem")));
}

void print_instance(json::Value instance) {
  say(field(instance, "id") + " is " + field(instance, "state") + " since " +
      field(instance, "state_since") + because(field(instance, "reason")));
  const std::string state = field(instance, "state");
  if (state == "booting" || state == "unknown")
    if (const std::string last = field(instance, "last_text"); !last.empty())
      say("  last step: " + last);
  if (field(instance, "idle_behavior") != "run")
    say("  set by an admin: " + field(instance, "idle_behavior"));
  if (field(instance, "health") != "healthy") say("  health: " + field(instance, "health"));
  print_conditions(instance);
  if (instance.has("gpus")) print_cards(instance);
  if (const auto alarm = instance.at("host_key_alarm"); alarm.is(json::Kind::kObject))
    say("  host key alarm since " + field(alarm, "since") +
        ": its address presents another host key, " + field(alarm, "seen_key") +
        "; nothing is sent to it");
}

/// "min is 6, by ceil(rps / 100): rps 510; down window of 5m: ...". Why it is unknown is one of the
/// pool's conditions.
void print_bound(json::Value bound) {
  std::string text = "  " + field(bound, "bound") + " is " +
                     (bound.has("number") ? field(bound, "number") : "unknown") + ", by " +
                     field(bound, "expression") + because(field(bound, "from"));
  for (const json::Value change : bound.at("changes").children())
    text += "; " + std::string(change.text());
  say(text);
}

/// "metric rps of web is 510, 3.2 s old"
void print_metric(json::Value metric) {
  const std::string key = field(metric, "key"), age = field(metric, "age");
  say("  metric " + field(metric, "name") + (key.empty() ? "" : " of " + key) + " is " +
      (metric.has("value") ? field(metric, "value") : "unknown") +
      (age.empty() ? "" : ", " + age + " old") + because(field(metric, "problem")) +
      (metric.has("substitute") ? "; bounds go by " + field(metric, "substitute") : ""));
}

void print_pool(json::Value pool, const std::string& ceiling) {
  std::string states;
  for (const json::Value one : pool.at("instances").children())
    states += (states.empty() ? "" : ", ") + std::string(one.text()) + " " + std::string(one.key());
  say("pool " + field(pool, "name") + " has " + (states.empty() ? "no instances" : states) +
      "; min " + field(pool, "min") + ", max " + field(pool, "max") + ", standby " +
      field(pool, "standby") + ", stopped " + field(pool, "stopped") +
      (pool.has("created_min") ? ", created_min " + field(pool, "created_min") : "") +
      (pool.has("created_max") ? ", created_max " + field(pool, "created_max") : ""));
  print_conditions(pool);
  if (!ceiling.empty()) say("  no more now: " + ceiling);
  for (const json::Value bound : pool.at("bounds").children()) print_bound(bound);
  if (pool.has("selection")) say("  " + field(pool.at("selection"), "text"));
}

void print_offerings(json::Value offerings) {
  say("  it offers " + count(field(offerings, "types"), "type") +
      (offerings.has("fetched") ? ", as of " + field(offerings, "fetched") : ""));
  if (offerings.has("ignored")) say("  of the last answer " + field(offerings, "ignored"));
}

void print_image(json::Value image) {
  const std::string id = field(image, "id"), name = field(image, "name");
  if (!id.empty())
    say("  image " + field(image, "query") + " is " + id + (name.empty() ? "" : " (" + name + ")") +
        ", last found at " + field(image, "found"));
}

void print_leftover(json::Value thing) {
  const std::string instance = field(thing, "instance");
  say("  leftover " + field(thing, "type") + " " + field(thing, "id") +
      (instance.empty() ? "" : " of instance " + instance) + ", listed since " +
      field(thing, "since") +
      (thing.at("destroying").bool_or(false) ? ", is being destroyed" : "") +
      because(field(thing, "error")));
}

void print_set(json::Value set) {
  say("set " + field(set, "name") + (set.at("open").bool_or(false) ? " is open" : " is not open") +
      because(field(set, "problem")));
  if (set.at("foreign_owner").bool_or(false))
    say("  the cloud lists instances of another owner: nothing is created");
  if (set.has("account"))
    say("  its instances are in account " + field(set, "account") +
        (set.has("region") ? ", region " + field(set, "region") : ""));
  for (const json::Value image : set.at("images").children()) print_image(image);
  for (const json::Value thing : set.at("leftovers").at("things").children()) print_leftover(thing);
  print_conditions(set);
  if (set.has("offerings")) print_offerings(set.at("offerings"));
  if (set.has("creates_refused"))
    say("  nothing is created" + because(field(set, "creates_refused")));
}

void print_gate(json::Value gate) {
  const std::string failures = field(gate, "failures");
  // A boot gate is shut by several boots that failed: it counts how often it was shut.
  const std::string history = field(gate, "class") == "boot"
                                  ? ", shut " + count(failures, "time")
                                  : " after " + count(failures, "failure");
  say("  gate " + field(gate, "key") +
      (gate.has("until") ? " is shut until " + field(gate, "until") + history : "") +
      because(field(gate, "message")));
}

void print_demand(json::Value demand) {
  const auto needs = demand.at("needs");
  const auto why = demand.at("waiting_because");
  if (demand.has("tasks")) return say("  " + field(why, "reason"));
  const bool is_one = field(demand, "jobs") == "1";
  say("  " + field(demand, "jobs") + (is_one ? " job or lease of " : " jobs or leases of ") +
      count(field(needs, "vcpus"), "vcpu") + " and " + format_size(needs.at("ram").int_or(0)) +
      (needs.has("gpus") ? ", " + gpus_text(needs.at("gpus")) : "") +
      (is_one ? " waits" : " wait") + because(field(why, "reason")));
}

void print_record(json::Value record, const std::string& asked) {
  const std::string code = field(record, "reason_code");
  const std::string subject = field(record, "subject");
  say("  " + format_wall({record.at("time_us").int_or(0)}) + "  " +
      padded(field(record, "actor"), 10) + " " + (subject == asked ? "" : subject + " ") +
      field(record, "event") + (code.empty() ? "" : " [" + code + "]") +
      because(field(record, "reason")));
}

/// How many jobs and leases go first; a job that has ended, or is held, waits for none.
std::string turn_of(json::Value waiting) {
  const std::string code = field(waiting, "code");
  if (code == "output" || code == "disk_full" || code == "held") return "";
  const std::string ahead = field(waiting, "ahead");
  return " (" + (ahead == "0" ? "nothing" : ahead) +
         (ahead == "0" || ahead == "1" ? " goes first)" : " go first)");
}

void print_turn(json::Value turn) {
  const std::string before = field(turn, "before");
  std::string others = before + " users have their turn before";
  if (before == "1") others = "1 user has its turn before";
  if (before == "0") others = "nobody has a turn before";
  say("  " + field(turn, "principal") + " has " + field(turn, "percent") +
      " % of the recent use at this site; " + others + " at priority " + field(turn, "priority"));
}

void print_all(json::Value root, const std::string& subject) {
  for (const json::Value text : root.at("conditions").children())
    say(subject + ": " + std::string(text.text()));
  if (const auto waiting = root.at("waiting_because"); waiting.is(json::Kind::kObject))
    say(subject + " waits: " + field(waiting, "reason") + turn_of(waiting));
  if (root.has("turn")) print_turn(root.at("turn"));
  if (root.has("until"))
    say(subject + " is granted on " + field(root.at("instance"), "id") + " until " +
        end_of_term(root));
  if (root.has("instance")) print_instance(root.at("instance"));
  if (root.has("pool")) print_pool(root.at("pool"), field(root, "ceiling"));
  for (const json::Value metric : root.at("metrics").children()) print_metric(metric);
  if (root.has("set")) print_set(root.at("set"));
  for (const json::Value gate : root.at("gates").children()) print_gate(gate);
  for (const json::Value demand : root.at("demand").children()) print_demand(demand);
  if (root.has("shapes_not_examined"))
    say("  jobs and leases of " + field(root, "shapes_not_examined") +
        " more shapes wait after those that were looked at");
  const bool is_gate = subject.starts_with("gate ");
  for (const json::Value one : root.at("rejected").children()) {
    const std::string offer =
        field(one, "type") + " " + field(one, "zone") + " " + field(one, "market");
    say(is_gate ? "  holds back " + offer + " of pool " + field(one, "pool")
                : "  not on " + offer + because(field(one, "reason")));
  }
  for (const json::Value record : root.at("records").children()) print_record(record, subject);
  if (root.at("records").size() == 0) say("  nothing is recorded yet");
}

}  // namespace

int why(Client& client, const std::string& subject, bool json) {
  const auto got = client.get("/v1/why?subject=" + escape(subject));
  if (!got) return complain(got.error());
  if (json) return print_json(got->root());
  print_all(got->root(), subject);
  return exit_code::kOk;
}

}  // namespace hostler::cli
