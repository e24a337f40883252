#include <set>

#include "core/config/readers.h"

namespace hostler::config {
namespace {

constexpr std::int64_t kQuotaMax = 1'000'000'000;
constexpr std::int64_t kSubmitsMax = 100'000;  // a minute; the times of as many are kept
constexpr std::int64_t kQuotaBytesMax = std::int64_t{1} << 60;
constexpr std::int64_t kPriorityMax = 1'000'000;  // of a job, in either direction

/// Calls `read` with a number and then sets the limit, so that one that is refused stays unset.
template <class T, class Read>
void limit(std::optional<T>& out, const Read& read) {
  T value{};
  if (read(value)) out = value;
}

void read_quota(json::Object& o, model::Quota& out) {
  const auto number = [&](const char* key, std::optional<std::int64_t>& to, std::int64_t min,
                          std::int64_t max) {
    limit(to, [&](std::int64_t& value) { return o.may(key).integer(value, min, max); });
  };
  const auto bytes = [&](const char* key, std::optional<std::int64_t>& to) {
    limit(to, [&](std::int64_t& value) { return o.may(key).size(value, 0, kQuotaBytesMax); });
  };
  number("jobs_waiting_max", out.jobs_waiting_max, 0, kQuotaMax);
  number("shapes_waiting_max", out.shapes_waiting_max, 0, kQuotaMax);
  number("submits_per_minute_max", out.submits_per_minute_max, 0, kSubmitsMax);
  bytes("blob_bytes_max", out.blob_bytes_max);
  bytes("output_bytes_max", out.output_bytes_max);
  number("priority_max", out.priority_max, -kPriorityMax, kPriorityMax);
  limit(out.running_vcpus_max, [&](model::Vcpus& value) {
    std::int64_t thousandths = 0;
    const bool read = o.may("running_vcpus_max").thousandths(thousandths, 0, kQuotaMax * 1000);
    value = model::Vcpus::of_thousandths(thousandths);
    return read;
  });
  number("running_gpus_max", out.running_gpus_max, 0, kQuotaMax);
  limit(out.running_price_per_hour_max, [&](model::Micros& value) {
    return o.may("running_price_per_hour_max").millionths(value.value, 0, kPriceMax);
  });
}

/// "token ci", "user ann": what api::Access calls them.
bool is_principal(const std::string& name) {
  const auto has_name_after = [&](std::string_view kind) {
    return name.starts_with(kind) && name.size() > kind.size() && name[kind.size()] != ' ';
  };
  return has_name_after("token ") || has_name_after("user ");
}

void read_principal(json::Object& o, std::set<std::string>& names, model::Quotas& out) {
  const json::Field field = o.need("name");
  std::string name;
  const bool read = field.text(name, {.bytes_max = 260, .one_line = true});
  if (read && !is_principal(name)) field.refuse("\"token NAME\" or \"user NAME\"");
  claim_name(field, name, names);
  read_quota(o, out.principals[name]);
}

}  // namespace

void read_quotas(json::Object& o, model::Quotas& out) {
  out.submit.priority_max = 0;
  o.may("quotas").object([&](json::Object& quotas) {
    quotas.may("roles").object([&](json::Object& roles) {
      const auto role = [&](const char* name, model::Quota& to) {
        roles.may(name).object([&](json::Object& quota) { read_quota(quota, to); });
      };
      role("admin", out.admin);
      role("submit", out.submit);
      role("read", out.read);
    });
    std::set<std::string> names;
    quotas.may("principals").each(10'000, [&](const json::Field& element) {
      element.object([&](json::Object& one) { read_principal(one, names, out); });
    });
  });
}

}  // namespace hostler::config
