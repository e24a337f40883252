#include "sdk/check/host/load.h"

#include "sdk/check/host/relay.h"
#include "sdk/check/host/rule_of_message.h"

namespace hostler::check {

Hygiene& hygiene() {
  static auto* const one = new Hygiene;
  return *one;
}

Library load_driver(Context& context) {
  (void)hygiene();
  auto loaded = Relay::get().load(context.options.library, context.findings, context.secrets);
  if (loaded) return *std::move(loaded);
  const std::string& message = loaded.error().message;
  context.findings.fail(rule_of_load(message), "load", message);
  return nullptr;
}

}  // namespace hostler::check
