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
/// LXD may be restarted each time.
constexpr int kMakesMax = 3;

/// A pause; its end, by the deadline or a cancel, leaves the outcome open.
void wait_a_moment(hostler_op* op) {
  try {
    driver::pause(op, kAwayPause);
  } catch (Error& ended) {
    ended.outcome_unknown();
    throw;
  }
}

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
    wait_a_moment(op);
  }
}

}  // namespace

void LxdSet::create(const hostler_create_req& request, hostler_op* op) {
  const CreateSpec spec = read_spec(request, config_, set_id_, shared_tags_, has_cloud_init_keys_);
  if (!spec.zone.empty() && !is_clustered_)
    throw Error(HOSTLER_E_INVALID, "zones are members of a cluster, and this LXD is not one");
  with_context("create " + spec.name, [&] {
    auto known = find(spec.name, op);
    if (known) {
      check_known(spec, *known);
      emit_instance(*known, config_, op);
    }
    for (int makes = 0;;) {
      if (known && known->has_started) return;
      if (known && known->is_made) return switch_on(spec, op);
      if (known) {
        remove_incomplete(spec.name, op);
      } else if (makes++ == kMakesMax) {
        throw Error(HOSTLER_E_TRANSIENT, "LXD has lost " + spec.name + " amid its create, " +
                                             std::to_string(kMakesMax) + " times")
            .outcome_unknown();
      } else if (make(spec, op)) {
        return switch_on(spec, op);
      }
      known = when_it_answers(op, [&] { return find(spec.name, op); });
      if (known) check_known(spec, *known);
    }
  });
}

/// Deletes a container without a disk; LXD refuses, and nothing is done, while it is at work on it.
/// A start would do harm: LXD 5.0.2 then makes a folder in place of the disk, and on btrfs it
/// cannot delete that.
void LxdSet::remove_incomplete(const std::string& name, hostler_op* op) const {
  try {
    when_it_answers(op, [&] { remove(name, op); });
  } catch (const Refused& refused) {
    const auto now = when_it_answers(op, [&] { return find(name, op); });
    if (!now || now->is_made) return;
    if (!says_busy(refused))
      throw refusal_error(refused, "delete the incomplete container " + name).outcome_unknown();
    wait_a_moment(op);
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

/// \return whether LXD says that it is made; else a look has to tell what is there.
bool LxdSet::make(const CreateSpec& spec, hostler_op* op) const {
  const std::string target = spec.zone.empty() ? "" : "?target=" + encoded(spec.zone);
  bool begun = false;
  try {
    const std::string body = body_of(spec, devices_for(spec, op));
    const Answer answer = api_.begin("POST", "/1.0/instances" + target, body, op);
    begun = true;
    emit_instance(spec.expected, config_, op);
    return wait_until_made(answer, op);
  } catch (const NoAnswer& lost) {
    if (begun || !lost.may_have_arrived() || !lost.is_worth_retry()) throw;
    // Nobody else would start what LXD may have made.
    const auto there = when_it_answers(op, [&] { return find(spec.name, op); });
    if (!there) throw;
    check_known(spec, *there);
    emit_instance(*there, config_, op);
    return false;
  } catch (const Refused& refused) {
    // Of two creates with one key the other was faster. A failed operation leaves nothing, says
    // LXD: if that is not so, the host has to know.
    const auto there = when_it_answers(op, [&] { return find(spec.name, op); });
    if (there && says_exists(refused)) {
      check_known(spec, *there);
      if (!begun) emit_instance(*there, config_, op);
      return false;
    }
    Error error = refusal_error(refused, "create " + spec.name);
    throw there ? error.outcome_unknown() : error;
  }
}

/// What a container has in place of devices of its profiles.
Devices LxdSet::devices_for(const CreateSpec& spec, hostler_op* op) const {
  if (!spec.wishes.need_profiles()) return {};
  Devices of_profiles;
  for (const std::string& name : spec.profiles)
    add_devices(api_.get("/1.0/profiles/" + encoded(name), op).metadata(), of_profiles);
  return own_devices(spec.wishes, of_profiles);
}

bool LxdSet::wait_until_made(const Answer& begun, hostler_op* op) const {
  try {
    api_.finish(begun, op);
    return true;
  } catch (const NoAnswer& problem) {
    if (!problem.is_worth_retry()) throw;
    return false;
  }
}

void LxdSet::switch_on(const CreateSpec& spec, hostler_op* op) const {
  try {
    when_it_answers(op, [&] { set_power(spec.name, "start", op); });
  } catch (const Refused& refused) {
    const auto now = when_it_answers(op, [&] { return find(spec.name, op); });
    if (now && now->has_started) return;  // by a call beside this one
    Error why = refusal_error(refused, "start " + spec.name);
    if (!now) why = Error(HOSTLER_E_TRANSIENT, "LXD has lost " + spec.name).outcome_unknown();
    try {
      if (now) remove(spec.name, op);
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
