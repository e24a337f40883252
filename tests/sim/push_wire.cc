#include "tests/sim/push_wire.h"

#include <utility>

namespace hostler::sim {

using namespace std::chrono_literals;

Duration PushWire::delay() {
  const bool is_late = fault(0.08);
  return 1ms * static_cast<std::int64_t>(1 + random_.below(is_late ? 20'000 : 200));
}

void PushWire::send(Sent sent, Hear hear, bool only_if_refused) {
  if (fault(0.05)) return;
  for (int copies = fault(0.08) ? 2 : 1; copies > 0; --copies)
    time_.after(delay(),
                [this, sent, hear, only_if_refused] { arrive(sent, hear, only_if_refused); });
}

void PushWire::arrive(const Sent& sent, const Hear& hear, bool only_if_refused) {
  if (has_faults_ && time_.now() < cut_until_) return;
  const auto is_taken = expect_(sent);
  if (only_if_refused && is_taken != false) return;
  flights_[++last_ticket_] = {sent, hear, is_taken, {}};
  post_(dispatch::PushReceived{last_ticket_, sent.principal, sent.pool, sent.push});
}

PushWire::Flight* PushWire::find(dispatch::Ticket ticket) {
  const auto found = flights_.find(ticket);
  return found == flights_.end() ? nullptr : &found->second;
}

void PushWire::answer(const dispatch::PushReply& reply) {
  auto flight = flights_.extract(reply.ticket);
  if (flight.empty() || fault(0.05) || (has_faults_ && time_.now() < cut_until_)) return;
  time_.after(delay(),
              [hear = std::move(flight.mapped().hear), result = reply.result] { hear(result); });
}

}  // namespace hostler::sim
