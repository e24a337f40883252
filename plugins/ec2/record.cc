#include "record.h"

#include "record_lists.h"

namespace hostler::ec2 {

using driver::str;

void emit_instance(const Instance& instance, const Extra& extra, hostler_op* op) {
  driver::InstanceRecord record(instance);
  hostler_instance& out = record.out;
  out.id = str(instance.id);
  out.request_id = str(instance.spot_request);
  out.state_error = str(instance.state_error);
  out.state_error_status = instance.state_error_status;
  out.state_error_scope = instance.state_error_scope;
  out.price_micros_per_hour = extra.micros_per_hour;
  out.interruption_unix_ns = extra.interruption_unix_ns;
  out.market = instance.is_spot ? HOSTLER_MARKET_SPOT : HOSTLER_MARKET_ON_DEMAND;
  driver::emit(op, out);
}

}  // namespace hostler::ec2
