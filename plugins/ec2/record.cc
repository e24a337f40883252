#include "record.h"

#include "record_lists.h"

namespace hostler::ec2 {

using driver::str;

void emit_instance(const Instance& instance, const Extra& extra, const Config& config,
                   hostler_op* op) {
  auto out = driver::instance_record();
  const auto tags = driver::to_abi(instance.tags);
  const auto addresses = driver::to_abi(instance.addresses);
  out.id = str(instance.id);
  out.request_id = str(instance.spot_request);
  out.idempotency_key = str(instance.key);
  out.set_id = str(instance.set_id);
  out.owner = str(instance.owner);
  out.remote_user = str(config.remote_user);
  out.zone = str(instance.zone);
  out.state_reason = str(instance.state_reason);
  out.state_error = str(instance.state_error);
  out.addresses = addresses.data();
  out.n_addresses = addresses.size();
  out.tags = tags.data();
  out.n_tags = tags.size();
  out.created_unix_ns = instance.created_unix_ns;
  out.price_micros_per_hour = extra.micros_per_hour;
  out.interruption_unix_ns = extra.interruption_unix_ns;
  out.market = instance.is_spot ? HOSTLER_MARKET_SPOT : HOSTLER_MARKET_ON_DEMAND;
  out.state = instance.state;
  driver::emit(op, out);
}

}  // namespace hostler::ec2
