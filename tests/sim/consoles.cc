#include "tests/sim/consoles.h"

#include <string>
#include <utility>

namespace hostler::sim {

void Consoles::read(const dispatch::ConsoleCall& call, bool faults, const Cloud::Reply& reply) {
  const std::string whose = "the console of " + call.instance.text();
  if (!exist_) complain_(whose + " is asked for, and there are none");
  if (!asked_.insert(call.instance).second) complain_(whose + " is asked for twice");
  if (destroyed_.contains(call.instance)) complain_(whose + " is asked for after the destroy");
  const auto between = [this](Duration from, Duration to) {
    return from + (to - from) * static_cast<std::int64_t>(random_.below(1000)) / 1000;
  };
  if (faults && random_.chance(0.15)) return;  // never
  const bool late = faults && random_.chance(0.2);
  const Duration delay = late ? between(5s, 60s) : between(1ms, 500ms);
  if (random_.chance(0.2))
    return reply(delay, dispatch::ConsoleRead{
                            call.instance,
                            tl::unexpected(error(model::CloudErrorClass::kTransient, "no route"))});
  model::ConsoleText text;
  text.bytes = std::string(random_.below(6000), static_cast<char>(random_.below(256)));
  reply(delay, dispatch::ConsoleRead{call.instance, std::move(text)});
}

}  // namespace hostler::sim
