#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/api/lease_codec.h"
#include "core/base/units.h"
#include "core/cli/commands.h"
#include "core/cli/key_files.h"
#include "core/cli/plan_text.h"
#include "core/cli/table.h"
#include "core/cli/work_rows.h"
#include "core/cli/work_text.h"
#include "core/json/writer.h"

/// Commands for leases. work.cc has those that jobs have too, wait.cc waits.
namespace hostler::cli {
namespace {

constexpr const char* kLiveStates = "waiting,granting,granted,ending,held";

Result<void> write_login(json::Writer& w, const LeaseOptions& o) {
  const auto keys = HOSTLER_TRY(read_key_files(o.key_files));
  if (!o.key_files.empty()) {
    w.key("ssh_keys").begin_array();
    for (const auto& key : keys) w.value(key);
    w.end_array();
  }
  if (!o.notice_command.empty())
    w.member("notice_command", HOSTLER_TRY(argument_text("--notice-command", o.notice_command)));
  return {};
}

/// The body of a request for a lease.
Result<std::string> lease_text(const LeaseOptions& o) {
  std::string out;
  json::Writer w(out);
  w.begin_object().member("for", HOSTLER_TRY(argument_text("--for", o.term)));
  if (!o.pool.empty()) w.member("pool", HOSTLER_TRY(argument_text("--pool", o.pool)));
  if (!o.wait_max.empty())
    w.member("wait_max", HOSTLER_TRY(argument_text("--wait-max", o.wait_max)));
  if (o.count != 1) w.member("count", o.count);
  if (o.one_zone) w.member("one_zone", true);
  HOSTLER_TRY(write_login(w, o));
  HOSTLER_TRY(write_work(w, o));
  w.end_object();
  const auto spec = api::read_lease(out);
  if (!spec) return tl::unexpected(without_position(spec.error()));
  return api::canonical_body(*spec);
}

/// The rest of the term of a granted lease, by the clock of this machine; "": it is not granted.
std::string time_left(json::Value lease) {
  if (lease.at("state").text() != "granted") return "";
  const auto until = parse_wall(lease.at("until").text_or(""));
  if (!until) return "";
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const Wall wall{std::chrono::duration_cast<std::chrono::microseconds>(now).count()};
  return format_duration(std::max(*until - wall, Duration::zero()));
}

std::vector<std::string> lease_row(json::Value lease) {
  const std::string why = lease.has("reason_code") ? how_it_ended(lease) : why_so(lease);
  return {field(lease, "id"),   field(lease, "state"),     field(lease, "for"),
          time_left(lease),     field(lease, "instance"),  field(lease.at("host"), "address"),
          field(lease, "name"), field(lease, "principal"), why};
}

}  // namespace

int lease(Client& client, const LeaseOptions& asked) {
  LeaseOptions options = asked;
  if (options.ssh && options.key_files.empty()) {
    auto file = default_key_file();
    if (!file) return complain(file.error());
    options.key_files.push_back(*std::move(file));
  }
  const auto body = lease_text(options);
  if (!body) return complain(body.error());
  const auto answer = client.post(options.dry_run ? "/v1/leases/dry-run" : "/v1/leases", *body);
  if (!answer) return complain(answer.error());
  if (options.dry_run) return show_dry_run(answer->root(), options.json);
  const std::string id = field(answer->root(), "id");
  if (options.ssh) return ssh_and_return(client, id, identities_of(options.key_files));
  if (options.wait && options.count == 1) return wait_for_grant(client, id, options.json);
  if (options.json && !options.wait) return print_json(answer->root());
  if (options.count == 1) say(id);
  for (const json::Value one : answer->root().at("ids").children()) {
    const std::string member(one.text_or(""));
    const int done = options.wait ? wait_for_grant(client, member, options.json) : exit_code::kOk;
    if (!options.wait) say(member);
    if (done != exit_code::kOk) return done;
  }
  return exit_code::kOk;
}

int leases(Client& client, const LeasesOptions& options) {
  const bool names_live = options.state.empty() && !options.all;
  const std::string state = names_live ? kLiveStates : options.state;
  const auto got = client.get(Query("/v1/leases")
                                  .add("limit", static_cast<std::uint64_t>(options.limit))
                                  .add("state", state)
                                  .add("name", options.name)
                                  .add("principal", options.principal)
                                  .text());
  if (!got) return complain(got.error());
  if (options.json) return print_json(got->root());
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : got->root().at("leases").children()) rows.push_back(lease_row(one));
  std::fputs(
      format_table({"ID", "STATE", "FOR", "LEFT", "HOST", "ADDRESS", "NAME", "USER", "REASON"},
                   rows, terminal_width())
          .c_str(),
      stdout);
  if (const auto next = field(got->root(), "next"); !next.empty())
    warn("there are more leases, older than " + next + "; use a higher --limit");
  return exit_code::kOk;
}

int renew(Client& client, const std::vector<std::string>& ids, const std::string& term) {
  std::string body;
  json::Writer w(body);
  w.begin_object().member("for", term).end_object();
  int worst = exit_code::kOk;
  for (const auto& id : ids) {
    const auto done = client.post(work_path(id) + "/renew", body);
    const auto lease = done ? client.get(work_path(id)) : tl::unexpected(done.error());
    if (lease)
      say(id + " ends at " + end_of_term(lease->root()) + ", in " + term);
    else
      worst = complain(without_position(lease.error()));
  }
  return worst;
}

int give_back(Client& client, const std::vector<std::string>& ids, bool used) {
  return act_on_work(client, ids, "return", used ? "" : R"({"used":false})");
}

}  // namespace hostler::cli
