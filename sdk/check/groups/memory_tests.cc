// Group G: a process that gets no memory for a while.
#include <algorithm>
#include <string>

#include "sdk/check/faults/libc_faults.h"
#include "sdk/check/groups/begin.h"
#include "sdk/check/groups/machines.h"

namespace hostler::check {
namespace {

constexpr const char* kTakesNoMemory = "the driver takes no memory from libc in this call";

/// At most `most` of the numbers from 0 to `count`, spread evenly.
std::vector<std::int64_t> spread(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> out;
  const std::int64_t n = std::min(count, most);
  for (std::int64_t i = 0; i < n; ++i) out.push_back(i * count / n);
  return out;
}

/// A list has to succeed now that there is memory again.
void expect_list(Context& c, Session& session) {
  if (const auto listed = session.list(); !listed)
    c.findings.fail("R23", "list",
                    "fails although there is memory again: " + listed.error().message);
}

/// Lists while one allocation fails: the list is complete, or an error.
void list_without_memory(Context& c, Session& session) {
  constexpr std::int64_t kTriesMax = 40;
  if (!can_fault_libc(c)) return;
  const auto made = make_listed_machine(c, session);
  if (!made) return;
  libc_faults.reset();
  (void)session.list();
  const std::int64_t in_list = libc_faults.allocations;
  if (in_list == 0) return c.findings.skip(kTakesNoMemory);
  c.findings.allow_crash();  // hostlerd starts another process
  for (const std::int64_t number : spread(in_list, kTriesMax)) {
    if (c.stops) return;
    libc_faults.reset();
    libc_faults.failing_allocation = number;
    const auto listed = session.list();
    libc_faults.reset();
    if (listed && !has_key(*listed, made->idempotency_key))
      return c.findings.fail("R33", "list",
                             "is OK without a machine that is there, when allocation " +
                                 std::to_string(number) + " of the call had failed");
  }
  expect_list(c, session);
}

/// Creates while one allocation fails. False: it has found something.
bool create_without_memory(Context& c, Session& session, std::int64_t number) {
  const auto request = session.request();
  libc_faults.reset();
  libc_faults.failing_allocation = number;
  const auto made = session.create(request);
  libc_faults.reset();
  const std::string when =
      ", when allocation " + std::to_string(number) + " of the call had failed";
  if (!made && !made.error().outcome_unknown && !session.of_key(request.idempotency_key).empty()) {
    c.findings.fail("R24", "create",
                    "the machine exists, and the error has no HOSTLER_EF_OUTCOME_UNKNOWN" + when);
    return false;
  }
  const auto again = session.create(request);
  if (!again)
    return report_no_machine(c, again.error(), "R32", "the same request again" + when), false;
  if (made && again->id != made->id)
    return c.findings.fail("R32", "create", "made a second machine of one key" + when), false;
  (void)session.destroy(again->id);
  return true;
}

void create_several_without_memory(Context& c, Session& session) {
  constexpr std::int64_t kTriesMax = 10;
  if (!can_fault_libc(c)) return;
  libc_faults.reset();
  const auto made = make_machine(c, session);
  const std::int64_t in_create = libc_faults.allocations;
  if (!made) return;
  if (in_create == 0) return c.findings.skip(kTakesNoMemory);
  if (!expect_listed(c, session, *made)) return;
  (void)session.destroy(*made);
  c.findings.allow_crash();
  for (const std::int64_t number : spread(in_create, kTriesMax))
    if (c.stops || !create_without_memory(c, session, number)) return;
  expect_list(c, session);
}

}  // namespace

void add_memory_tests(std::vector<Test>& to) {
  to.push_back({"libc.memory", 'G', 1, Needs::kMachines,
                "a create that gets no memory is an error, and loses no machine",
                &on_open_set<create_several_without_memory>});
  to.push_back({"libc.list_memory", 'G', 1, Needs::kMachines,
                "a list that gets no memory is an error, or complete",
                &on_open_set<list_without_memory>});
}

}  // namespace hostler::check
