// Group B: the library is loaded, and its table looked at.
#include <chrono>
#include <thread>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/json/schema.h"
#include "core/plugin_host/driver_facts.h"
#include "core/plugin_host/host_table.h"
#include "sdk/check/host/session.h"

namespace hostler::check {
namespace {

constexpr auto kLoadTimeMax = std::chrono::milliseconds(100);
constexpr int kThreads = 8;

void check_table(Context& c) { (void)load_driver(c); }

void check_quiet_load(Context& c) {
  (void)hygiene();
  const auto began = std::chrono::steady_clock::now();
  if (load_driver(c) == nullptr) return;
  const Duration took = std::chrono::steady_clock::now() - began;
  hygiene().check_load(c.findings, Relay::get().is_go());
  if (took > kLoadTimeMax)
    c.findings.warn("R2", "load", "took " + format_duration(took) + ", 100 ms should be enough");
}

void check_entry(Context& c) {
  if (load_driver(c) == nullptr) return;
  const auto entry = Relay::get().library().entry();
  const auto* const first = entry(&plugin_host::host_table());
  std::atomic<int> others{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      if (entry(&plugin_host::host_table()) != first) ++others;
    });
  for (auto& thread : threads) thread.join();
  if (others > 0)
    c.findings.fail("R2", HOSTLER_DRIVER_ENTRY, "does not return the same pointer each time");
}

void check_other_major(Context& c) {
  if (load_driver(c) == nullptr) return;
  hostler_host other = plugin_host::host_table();
  other.abi_major = HOSTLER_ABI_MAJOR + 1;
  if (Relay::get().library().entry()(&other) != nullptr)
    c.findings.fail("R4", HOSTLER_DRIVER_ENTRY, "gives a table to a host of another major version");
}

void check_facts(Context& c) {
  if (load_driver(c) == nullptr) return;
  // The host's copy is within its limits already.
  const auto& table = *Relay::get().library().entry()(&plugin_host::host_table());
  const std::pair<const char*, const char*> texts[]{
      {"version", table.version},
      {"vendor", table.vendor},
      {"license", table.license},
      {"runtime", table.runtime},
      {"config_schema_json", table.config_schema_json}};
  for (const auto& [name, text] : texts)
    if (text != nullptr && !is_utf8(text))
      c.findings.fail("R19", "table", std::string(name) + " is not UTF-8");
  if (table.version == nullptr)
    c.findings.warn("R55", "table", "has no version: nobody can tell two builds apart");
  if (table.threading > HOSTLER_THREAD_CONCURRENT)
    c.findings.fail("R35", "table", "threading is a value that is not defined");
  const bool is_serial = table.threading != HOSTLER_THREAD_CONCURRENT;
  if (table.max_concurrency == 0 || table.max_concurrency > 1024)
    c.findings.fail("R35", "table", "max_concurrency is not 1 to 1024");
  else if (is_serial && table.max_concurrency != 1)
    c.findings.warn("R35", "table", "max_concurrency of a serial driver is not 1");
  if (table.flags != 0) c.findings.fail("R9", "table", "flags are set, but none is defined");
}

void check_schema(Context& c) {
  if (load_driver(c) == nullptr) return;
  const char* const schema = Relay::get().driver().config_schema_json;
  if (schema == nullptr) return c.findings.skip("it has no schema: it takes any object");
  if (const auto problems = json::schema_problems(schema, "{}"); !problems)
    return c.findings.fail("R34", "table", "config_schema_json: " + problems.error().message);
  if (!c.settings.has_cloud) return;
  const auto problems = json::schema_problems(schema, c.settings.config_json);
  for (const auto& problem : problems.value_or(std::vector<std::string>()))
    c.findings.fail("R34", "table", "the config of driver-check.json does not fit it: " + problem);
}

void check_extensions(Context& c) {
  if (load_driver(c) == nullptr) return;
  const auto& table = Relay::get().driver();
  const std::string trailing = std::string(HOSTLER_EXT_POWER) + " ";
  try {
    for (const std::string& id : {std::string("x/999"), std::string(), trailing,
                                  std::string("hostler.power/2"), std::string(1000, 'x')})
      if (table.get_extension(id.c_str()) != nullptr)
        c.findings.fail("R39", "get_extension", "knows '" + printable(id, 40) + "'");
    for (const char* id : plugin_host::kKnownExtensions) {
      const auto* const found = table.get_extension(id);
      if (found != table.get_extension(id))
        c.findings.fail("R39", "get_extension", std::string(id) + ": another table each time");
      if (found != nullptr) c.findings.note(std::string("has ") + id);
      (void)relayed_extension(id);  // looks at the size of the table
    }
  } catch (...) {
    c.findings.fail("R45", "get_extension", "an exception left the function");
  }
}

}  // namespace

void add_load_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back(
      {"load.table", 'B', 0, kNothing, "it is loaded, and its table is complete", &check_table});
  to.push_back(
      {"load.quiet", 'B', 0, kNothing, "it does nothing while it is loaded", &check_quiet_load});
  to.push_back({"load.entry", 'B', 0, kNothing,
                "the entry function returns the same table each time, on every thread",
                &check_entry});
  to.push_back({"load.other_major", 'B', 0, kNothing,
                "a host of another major version gets no table", &check_other_major});
  to.push_back({"load.facts", 'B', 0, kNothing, "the values in the table are within their ranges",
                &check_facts});
  to.push_back(
      {"load.schema", 'B', 0, kNothing, "the schema of its config can be used", &check_schema});
  to.push_back({"load.extensions", 'B', 0, kNothing, "it gives extensions by their ids, no others",
                &check_extensions});
}

}  // namespace hostler::check
