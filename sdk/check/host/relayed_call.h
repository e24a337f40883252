#pragma once

#include <type_traits>

#include "sdk/check/faults/libc_faults.h"
#include "sdk/check/host/lent_memory.h"
#include "sdk/check/host/relay.h"

namespace hostler::check {

inline constexpr std::uint32_t kUnknownFlag = 1U << 30U, kUnknownMarket = 77;

/// The request with what the relay pretends.
template <class Request>
Request pretended(Request request, const Pretence& pretence) {
  if (pretence.asks_unknown_flag) request.flags |= kUnknownFlag;
  if constexpr (std::is_same_v<Request, hostler_create_req>)
    if (pretence.asks_unknown_market) request.market = kUnknownMarket;
  return request;
}

/// Calls a function of the driver with copies of request and operation, which `call` gets. What the
/// driver throws goes on to the host.
template <class Request, class Call>
hostler_status lend_call(const char* name, const Request* request, hostler_op* op,
                         const Call& call) {
  Relay& relay = Relay::get();
  LentOp& lent = LentOp::lend(name, op, relay.pretence(), relay.events(), relay.later_bytes());
  LentMemory memory(name, relay.later_bytes());
  hostler_status status = HOSTLER_E_INTERNAL;
  relay.findings().enter(name);
  try {
    const Request asked = pretended(*request, relay.pretence());
    const Request* const borrowed = lend(memory, asked);
    const Inside driver(Inside::kDriver);
    status = call(borrowed, lent.op());
  } catch (...) {
    relay.findings().enter(nullptr);
    lent.returned(HOSTLER_E_INTERNAL);
    throw;
  }
  relay.findings().enter(nullptr);
  lent.returned(status);
  return status;
}

/// The same of a function that has a set.
template <class Request>
hostler_status relayed(const char* name, hostler_set* set, const Request* request, hostler_op* op,
                       hostler_status (*function)(hostler_set*, const Request*, hostler_op*)) {
  return lend_call(name, request, op, [&](const Request* lent, hostler_op* lent_op) {
    return function(set, lent, lent_op);
  });
}

}  // namespace hostler::check
