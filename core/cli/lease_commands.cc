#include "core/cli/command_line.h"

namespace hostler::cli {
namespace {

void add_lease(CLI::App& app, Arguments& a, Chosen& chosen) {
  LeaseOptions& o = a.lease;
  CLI::App* c = add(app, chosen, "lease", "Ask for a whole host, for a time",
                    [&a](Client& client) { return lease(client, a.lease); });
  c->add_option("--for", o.term, "Needed: how long, from the grant on, e.g. 90m or 2h (not 1h30m)")
      ->type_name("DURATION")
      ->required();
  c->add_option("--pool", o.pool, "Only a host of this pool")->type_name("POOL");
  c->add_option("--wait-max", o.wait_max, "End the lease if it is not granted within this time")
      ->type_name("DURATION");
  CLI::Option* count =
      c->add_option("--count", o.count, "N hosts, all at once: a gang")->type_name("N");
  c->add_flag("--one-zone", o.one_zone, "Only hosts that are in the same zone")->needs(count);
  c->add_option("--ssh-key", o.key_files,
                "Log in by the public keys of FILE, where the pool allows it; repeat for more")
      ->type_name("FILE")
      ->allow_extra_args(false);
  c->add_option("--notice-command", o.notice_command,
                "Shell command that tells you on the host that the lease ends soon")
      ->type_name("COMMAND");
  add_work_options(c, o, "lease");
  c->add_flag("--wait", o.wait,
              "Wait until it is granted, and print its host, the address and the SSH port");
  c->add_flag("--dry-run", o.dry_run,
              "Ask for nothing: show which host it would get, when, and at what price")
      ->excludes("--wait");
  c->add_flag("--json", o.json, "Print JSON");
  c->add_flag("--ssh", o.ssh, "Wait, open a shell on the host, and give it back when that ends")
      ->excludes(count)
      ->excludes("--wait")
      ->excludes("--dry-run")
      ->excludes("--json");
}

void add_ssh(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c = add(app, chosen, "ssh",
                    "Log in on the host of a lease; put -- before a command that has options",
                    [&a](Client& client) { return ssh(client, a.id, a.ids); });
  c->add_option("id", a.id, "E.g. l-3")->type_name("LEASE")->check(id_of("l"))->required();
  c->add_option("command", a.ids, "Run this instead of a shell")->type_name("COMMAND");
}

void add_leases(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c =
      add(app, chosen, "leases", "List leases, newest first, or show one", [&a](Client& client) {
        return a.id.empty() ? leases(client, a.leases) : show_work(client, a.id, a.leases.json);
      });
  CLI::Option* id = c->add_option("id", a.id, "Show this one, e.g. l-3")->type_name("LEASE");
  id->check(id_of("l"));
  CLI::Option* all = c->add_flag("--all", a.leases.all, "Also leases that have ended");
  c->add_option("--state", a.leases.state, "Only leases in these states, e.g. waiting,granted")
      ->type_name("LEASE-STATE")
      ->excludes(all);
  c->add_option("--name", a.leases.name, "Only leases of this name")->type_name("NAME");
  c->add_option("--principal", a.leases.principal, "Only leases of this holder")->type_name("NAME");
  add_limit(c, a.leases.limit);
  for (const char* filter : {"--all", "--state", "--name", "--principal", "--limit"})
    id->excludes(c->get_option(filter));
  c->add_flag("--json", a.leases.json, "Print JSON");
}

}  // namespace

void add_lease_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  add_lease(app, a, chosen);
  add_leases(app, a, chosen);
  add_ssh(app, a, chosen);
  CLI::App* c = add(app, chosen, "renew", "Begin a new term of leases, from now on",
                    [&a](Client& client) { return renew(client, a.ids, a.lease.term); });
  c->add_option("ids", a.ids, "E.g. l-3 l-4")->type_name("LEASE")->check(id_of("l"))->required();
  c->add_option("--for", a.lease.term,
                "Needed: new term, counted from now (may be shorter than what is left), e.g. 90m "
                "or 2h (not 1h30m)")
      ->type_name("DURATION")
      ->required();
  c = add(app, chosen, "return", "Give the hosts of leases back",
          [&a](Client& client) { return give_back(client, a.ids, !a.unused); });
  c->add_option("ids", a.ids, "E.g. l-3 l-4")->type_name("LEASE")->check(id_of("l"))->required();
  c->add_flag("--unused", a.unused, "You have not touched them: others get them as they are");
}

}  // namespace hostler::cli
