#include <chrono>

#include "lxd_set.h"
#include "with_context.h"

namespace hostler::lxd {

using driver::Error;
using driver::view;

namespace {

constexpr auto kBusyPause = std::chrono::milliseconds(300);

/// The same again for as long as LXD is busy with the instance, until the deadline.
template <class Body>
void while_busy(hostler_op* op, const Body& body) {
  for (;;) {
    try {
      return body();
    } catch (const Refused& refused) {
      if (!says_busy(refused)) throw;
    }
    driver::pause(op, kBusyPause);
  }
}

}  // namespace

void LxdSet::set_power(const std::string& name, const char* action, hostler_op* op) const {
  const std::string body =
      std::string(R"({"action": ")") + action + R"(", "force": true, "timeout": -1})";
  try {
    while_busy(op, [&] { api_.change("PUT", Api::instance(name, "/state"), body, op); });
  } catch (const Refused& refused) {
    if (!says_done(refused)) throw;
  }
}

Instance LxdSet::find_ours(const hostler_str& id, const hostler_str& expected_set,
                           hostler_op* op) const {
  const auto found = find(text(id), op);
  if (!found) throw Error(HOSTLER_E_NOT_FOUND, "there is no instance " + text(id));
  if (found->key.empty() || (expected_set.len != 0 && found->set_id != view(expected_set)))
    throw Error(HOSTLER_E_CONFLICT,
                text(id) + " belongs to " +
                    (found->set_id.empty() ? "no set of hostler" : "the set " + found->set_id));
  return *found;
}

void LxdSet::start(const hostler_power_req& request, hostler_op* op) {
  with_context("start " + text(request.id), [&] {
    const Instance found = find_ours(request.id, request.expected_set_id, op);
    if (found.state == HOSTLER_STATE_RUNNING) return;
    const bool frozen = found.state == HOSTLER_STATE_SUSPENDED;
    set_power(found.name, frozen ? "unfreeze" : "start", op);
  });
}

void LxdSet::stop(const hostler_power_req& request, hostler_op* op) {
  with_context("stop " + text(request.id), [&] {
    const Instance found = find_ours(request.id, request.expected_set_id, op);
    if (found.is_on) set_power(found.name, "stop", op);
  });
}

}  // namespace hostler::lxd
