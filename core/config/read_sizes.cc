#include "core/config/readers.h"

namespace hostler::config {
namespace {

/// A number, or the text of an expression. False: it is absent or a problem.
bool read_bound(const json::Field& field, std::int32_t& number, std::string& text) {
  if (!field.present()) return false;
  const json::Value& value = *field.value();
  if (value.is(json::Kind::kString))
    return field.text(text, {.bytes_max = kExpressionMax, .bytes_min = 1});
  if (value.is(json::Kind::kNumber)) return field.integer(number, 0, kInstancesMax);
  return field.refuse("a whole number from 0 to " + std::to_string(kInstancesMax) +
                      ", or a text, which is an expression");
}

void read_created(const json::Field& field, std::optional<std::int32_t>& out, std::string& text) {
  std::int32_t number = 0;
  if (read_bound(field, number, text) && text.empty()) out = number;
}

/// One bound as far as it is known without its expression.
struct Known {
  const char* key;
  std::optional<std::int32_t> number;
};

void check_order(const json::Field& field, const Known& low, const Known& high) {
  if (low.number && high.number && *low.number > *high.number)
    field.problem(std::string(low.key) + " " + std::to_string(*low.number) + " is above " +
                  high.key + " " + std::to_string(*high.number));
}

}  // namespace

void read_sizes(json::Object& o, model::PoolSizes& out) {
  const json::Field min = o.may("min"), standby = o.may("standby"), stopped = o.may("stopped");
  const json::Field created_min = o.may("created_min"), created_max = o.may("created_max");
  read_bound(min, out.min, out.texts.min);
  read_bound(o.may("max"), out.max, out.texts.max);
  standby.integer(out.standby, 0, kInstancesMax);
  stopped.integer(out.stopped, 0, kInstancesMax);
  read_created(created_min, out.created_min, out.texts.created_min);
  read_created(created_max, out.created_max, out.texts.created_max);

  const auto started = [](const char* key, std::int32_t number, const std::string& text) {
    return Known{key, text.empty() ? std::optional(number) : std::nullopt};
  };
  const Known least = started("min", out.min, out.texts.min);
  const Known most = started("max", out.max, out.texts.max);
  const Known created{"created_max", out.created_max};
  check_order(min, least, most);
  check_order(min, least, created);
  check_order(standby, {"standby", out.standby}, most);
  check_order(standby, {"standby", out.standby}, created);
  check_order(created_min, {"created_min", out.created_min}, created);
  if (stopped.present() && (created_min.present() || created_max.present()))
    stopped.problem(
        "it is not allowed together with created_min and created_max, which say how many hosts are "
        "kept, switched on or off: remove stopped, or both of these");
}

}  // namespace hostler::config
