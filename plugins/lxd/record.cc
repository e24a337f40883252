#include "record.h"

#include "record_lists.h"

namespace hostler::lxd {

using driver::str;

void emit_instance(const Instance& instance, const Config& config, hostler_op* op) {
  auto out = driver::instance_record();
  const auto tags = driver::to_abi(instance.tags);
  const auto addresses = driver::to_abi(instance.addresses);
  out.id = str(instance.name);
  out.idempotency_key = str(instance.key);
  out.set_id = str(instance.set_id);
  out.owner = str(instance.owner);
  out.remote_user = str(config.remote_user);
  out.zone = str(instance.zone);
  out.state_reason = str(instance.state_reason);
  out.addresses = addresses.data();
  out.n_addresses = addresses.size();
  out.tags = tags.data();
  out.n_tags = tags.size();
  out.created_unix_ns = instance.created_unix_ns;
  const Size* const size = config.size(instance.provider_type);
  if (size != nullptr) out.price_micros_per_hour = size->price_micros;
  out.market = HOSTLER_MARKET_ON_DEMAND;
  out.state = instance.state;
  if (instance.tags_unknown) out.flags |= HOSTLER_INSTANCE_TAGS_UNKNOWN;
  driver::emit(op, out);
}

}  // namespace hostler::lxd
