#include "core/base/units.h"
#include "core/cli/commands.h"
#include "core/cli/work_rows.h"
#include "core/json/writer.h"

/// Commands for jobs and for leases.
namespace hostler::cli {

std::string why_so(json::Value work) {
  return field(work.has("waiting_because") ? work.at("waiting_because") : work, "reason");
}

std::string how_it_ended(json::Value lease) {
  const std::string code = field(lease, "reason_code"), text = field(lease, "reason");
  return code + (code.empty() || text.empty() ? "" : ": ") + text;
}

std::string end_of_term(json::Value answer) {
  return format_wall(parse_wall(answer.at("until").text_or("")).value_or(Wall{}));
}

int act_on_work(Client& client, const std::vector<std::string>& ids, const std::string& action,
                const std::string& body) {
  int worst = exit_code::kOk;
  for (const auto& id : ids)
    if (const auto done = client.post(work_path(id) + "/" + action, body); !done)
      worst = complain(done.error());
  return worst;
}

int show_work(Client& client, const std::string& id, bool json) {
  const auto got = client.get(work_path(id));
  if (!got) return complain(got.error());
  if (json) return print_json(got->root());
  for (const json::Value member : got->root().children()) {
    const std::string text = member.is(json::Kind::kObject) || member.is(json::Kind::kArray)
                                 ? json::to_text(member)
                                 : std::string(member.text());
    say(padded(std::string(member.key()), 16) + " " + text);
  }
  return exit_code::kOk;
}

int cancel(Client& client, const std::vector<std::string>& ids) {
  return act_on_work(client, ids, "cancel");
}

int release(Client& client, const std::vector<std::string>& ids) {
  return act_on_work(client, ids, "release");
}

}  // namespace hostler::cli
