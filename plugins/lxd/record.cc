#include "record.h"

#include "record_lists.h"

namespace hostler::lxd {

void emit_instance(const Instance& instance, const Config& config, hostler_op* op) {
  driver::InstanceRecord record(instance);
  hostler_instance& out = record.out;
  out.remote_user = HOSTLER_STR("root");
  out.id = driver::str(instance.name);
  const Size* const size = config.size(instance.provider_type);
  if (size != nullptr) out.price_micros_per_hour = size->price_micros;
  out.market = HOSTLER_MARKET_ON_DEMAND;
  if (instance.tags_unknown) out.flags |= HOSTLER_INSTANCE_TAGS_UNKNOWN;
  driver::emit(op, out);
}

}  // namespace hostler::lxd
