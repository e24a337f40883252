// How an instance comes to be. LXD makes and starts a container in two steps, and this process may
// die between any two lines: what a retry with the same key needs to know is in LXD.
#include "lxd_set.h"
#include "names.h"
#include "record.h"

namespace hostler::lxd {

using driver::Error;

void LxdSet::create(const hostler_create_req& request, hostler_op* op) {
  const Order order = read_order(request, config_, set_id_, shared_tags_, has_cloud_init_keys_);
  if (!order.zone.empty() && !is_clustered_)
    throw Error(HOSTLER_E_INVALID, "zones are members of a cluster, and this LXD is not one");
  try {
    if (const auto known = find(order.name, op)) {
      check_known(order, *known);
      emit_instance(*known, config_, op);
      if (known->has_started) return;
    } else {
      make(order, op);
    }
  } catch (const Refused& refused) {
    throw refusal_error(refused, "create " + order.name);
  }
  switch_on(order, op);
}

/// An instance that has the name already.
void LxdSet::check_known(const Order& order, const Instance& known) const {
  if (known.key == order.key && known.set_id == set_id_ && known.digest == order.digest) return;
  throw Error(HOSTLER_E_CONFLICT,
              order.name + (known.key == order.key
                                ? " was created by a request with the same key and other arguments"
                                : " is the name of an instance that is not hostler's"));
}

void LxdSet::make(const Order& order, hostler_op* op) const {
  const std::string target = order.zone.empty() ? "" : "?target=" + encoded(order.zone);
  bool begun = false;
  try {
    const Answer answer = api_.begin("POST", "/1.0/instances" + target, order.body, op);
    begun = true;
    emit_instance(order.expected, config_, op);
    api_.finish(answer, op);
  } catch (const Refused& refused) {
    // Of two creates with one key the other was faster. A failed operation leaves nothing, says
    // LXD: if that is not so, the host has to know.
    const auto there = find(order.name, op);
    if (there && says_exists(refused)) {
      check_known(order, *there);
      if (!begun) emit_instance(*there, config_, op);
      return;
    }
    Error error = refusal_error(refused, "create " + order.name);
    throw there ? error.outcome_unknown() : error;
  }
}

void LxdSet::switch_on(const Order& order, hostler_op* op) const {
  try {
    set_power(order.name, "start", op);
  } catch (const Refused& refused) {
    const auto now = find(order.name, op);
    if (now && now->has_started) return;  // by a call beside this one
    give_up(order, refusal_error(refused, "start " + order.name), op);
  } catch (Error& error) {
    throw error.outcome_unknown();
  }
}

/// Removes a container that does not start, and reports why it did not.
void LxdSet::give_up(const Order& order, const Error& why, hostler_op* op) const {
  try {
    api_.change("DELETE", Api::instance(order.name), "", op);
  } catch (const std::exception&) {
    throw Error(why).outcome_unknown();
  }
  throw Error(why);
}

}  // namespace hostler::lxd
