// How an instance comes to be. LXD makes and starts a container in two steps, and this process may
// die between any two lines: what a retry with the same key needs to know is in LXD.
#include <chrono>

#include "lxd_set.h"
#include "names.h"
#include "record.h"
#include "with_context.h"

namespace hostler::lxd {

using driver::Error;

namespace {

constexpr auto kAwayPause = std::chrono::milliseconds(500);

/// `body`, again for as long as LXD does not answer: it may be starting again. What it began is not
/// lost, since the container has a name. Ends at the deadline, with the outcome unknown.
template <class Body>
auto when_it_answers(hostler_op* op, const Body& body) {
  for (;;) {
    try {
      return body();
    } catch (NoAnswer& problem) {
      problem.outcome_unknown();
      if (!problem.is_worth_retry()) throw;
    } catch (Error& problem) {
      problem.outcome_unknown();
      throw;
    }
    try {
      driver::pause(op, kAwayPause);
    } catch (Error& ended) {
      ended.outcome_unknown();
      throw;
    }
  }
}

}  // namespace

void LxdSet::create(const hostler_create_req& request, hostler_op* op) {
  const CreateSpec spec = read_spec(request, config_, set_id_, shared_tags_, has_cloud_init_keys_);
  if (!spec.zone.empty() && !is_clustered_)
    throw Error(HOSTLER_E_INVALID, "zones are members of a cluster, and this LXD is not one");
  with_context("create " + spec.name, [&] {
    bool is_whole = false;
    if (const auto known = find(spec.name, op)) {
      check_known(spec, *known);
      emit_instance(*known, config_, op);
      if (known->has_started) return;
    } else {
      is_whole = make(spec, op);
    }
    if (switch_on(spec, is_whole, op)) return;
    remove_incomplete(spec.name, op);
    make(spec, op);
    switch_on(spec, true, op);
  });
}

void LxdSet::remove_incomplete(const std::string& name, hostler_op* op) const {
  try {
    when_it_answers(op, [&] { remove(name, op); });
  } catch (const Refused& refused) {
    throw refusal_error(refused, "delete the incomplete container " + name).outcome_unknown();
  }
}

/// An instance that has the name already.
void LxdSet::check_known(const CreateSpec& spec, const Instance& known) const {
  if (known.key == spec.key && known.set_id == set_id_ && known.digest == spec.digest) return;
  throw Error(HOSTLER_E_CONFLICT,
              spec.name + (known.key == spec.key
                               ? " was created by a request with the same key and other arguments"
                               : " is the name of an instance that is not hostler's"));
}

/// \return whether LXD says that it is made; else it was interrupted, and what is there may be an
/// incomplete container.
bool LxdSet::make(const CreateSpec& spec, hostler_op* op) const {
  const std::string target = spec.zone.empty() ? "" : "?target=" + encoded(spec.zone);
  bool begun = false;
  try {
    const Answer answer = api_.begin("POST", "/1.0/instances" + target, spec.body, op);
    begun = true;
    emit_instance(spec.expected, config_, op);
    return wait_until_made(spec, answer, op);
  } catch (const Refused& refused) {
    // Of two creates with one key the other was faster. A failed operation leaves nothing, says
    // LXD: if that is not so, the host has to know.
    const auto there = when_it_answers(op, [&] { return find(spec.name, op); });
    if (there && says_exists(refused)) {
      check_known(spec, *there);
      if (!begun) emit_instance(*there, config_, op);
      return true;
    }
    Error error = refusal_error(refused, "create " + spec.name);
    throw there ? error.outcome_unknown() : error;
  }
}

bool LxdSet::wait_until_made(const CreateSpec& spec, const Answer& begun, hostler_op* op) const {
  try {
    api_.finish(begun, op);
    return true;
  } catch (const NoAnswer& problem) {
    if (!problem.is_worth_retry()) throw;
  }
  when_it_answers(op, [&] { return find(spec.name, op); });
  return false;
}

/// \return false if LXD cannot start it, and it may be an incomplete container: LXD that is killed
/// amid a create keeps one without a disk.
bool LxdSet::switch_on(const CreateSpec& spec, bool is_whole, hostler_op* op) const {
  try {
    when_it_answers(op, [&] { set_power(spec.name, "start", op); });
    return true;
  } catch (const Refused& refused) {
    const auto now = when_it_answers(op, [&] { return find(spec.name, op); });
    if (now && now->has_started) return true;  // by a call beside this one
    if (!is_whole) return false;
    Error why = refusal_error(refused, "start " + spec.name);
    try {
      remove(spec.name, op);
    } catch (const std::exception&) {
      why.outcome_unknown();
    }
    throw Error(why);
  }
}

void LxdSet::remove(const std::string& name, hostler_op* op) const {
  try {
    api_.change("DELETE", Api::instance(name), "", op);
  } catch (const Refused& refused) {
    if (!says_missing(refused) || find(name, op)) throw;
  }
}

}  // namespace hostler::lxd
