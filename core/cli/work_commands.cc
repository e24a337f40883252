#include "core/cli/command_line.h"

/// Options of submits that jobs and leases share, and commands for both.
namespace hostler::cli {

void add_work_options(CLI::App* c, WorkOptions& o, const std::string& what) {
  c->add_option("--name", o.name, "Name of the " + what)->type_name("NAME");
  c->add_option("--vcpus", o.vcpus,
                "Number of vcpus that the " + what + " needs, also parts: 0.25; or 0 (1)")
      ->type_name("N")
      ->check(amount_of_vcpus());
  c->add_option("--ram", o.ram, "Memory that the " + what + " needs, e.g. 512MiB (1GiB)")
      ->type_name("SIZE");
  c->add_option("--scratch", o.scratch, "Disk space that the " + what + " needs, e.g. 10GiB")
      ->type_name("SIZE");
  CLI::Option* gpus =
      c->add_option("--gpus", o.gpus,
                    "Number of gpus that the " + what + " needs, or kind and number: a100:2 (0)")
          ->type_name("[KIND:]N")
          ->check(number_of_gpus());
  c->add_option("--gpu-memory", o.gpu_memory, "Memory that each gpu has at least, e.g. 40GiB")
      ->type_name("SIZE")
      ->needs(gpus);
  c->add_option("--priority", o.priority,
                "Work of higher priority goes first, -1000000 to 1000000 (0)")
      ->type_name("N")
      ->check(within(-1'000'000, 1'000'000));
  c->add_option("--type", o.type, "Only these instance types")->type_name("A,B");
  c->add_option("--market", o.market, "Only this market: on_demand or spot")->type_name("MARKET");
  c->add_option("--zone", o.zone, "Only this zone")->type_name("ZONE");
  c->add_option("--client-key", o.client_key,
                "Idempotency key: submitting it twice creates one " + what)
      ->type_name("KEY");
}

void add_work_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c = add(app, chosen, "cancel", "Cancel jobs and leases", [&a](Client& client) {
    return a.all ? act_on_held(client, "cancel") : cancel(client, a.ids);
  });
  c->add_option("ids", a.ids, "E.g. j-42 l-3")->type_name("WORK")->check(work_id());
  c->add_flag("--held", a.all, "All jobs and leases that are held");
  c->require_option(1);
  c = add(app, chosen, "release", "Let held jobs and leases wait for hosts (admins only)",
          [&a](Client& client) {
            return a.all ? act_on_held(client, "release") : release(client, a.ids);
          });
  c->add_option("ids", a.ids, "E.g. j-42 l-3")->type_name("WORK")->check(work_id());
  c->add_flag("--all", a.all, "All jobs and leases that are held");
  c->require_option(1);
}

}  // namespace hostler::cli
