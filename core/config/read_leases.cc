#include <utility>

#include "core/config/readers.h"
#include "core/model/lease.h"

namespace hostler::config {

void read_leases(const json::Field& field, std::optional<model::LeasePolicy>& out) {
  model::LeasePolicy policy;
  const bool read = field.object([&](json::Object& o) {
    o.may("max_term").duration(policy.max_term, model::kTermMin, model::kTermMax);
    o.may("clean_command").text(policy.clean_command, {.bytes_max = kCommandMax});
  });
  if (read) out = std::move(policy);
}

}  // namespace hostler::config
