#include <array>

#include "core/config/readers.h"

namespace hostler::config {
namespace {

constexpr json::TextRule kCloudName{.bytes_max = 255, .bytes_min = 1, .one_line = true};
constexpr json::TextRule kCloudNameOrNone{.bytes_max = 255, .one_line = true};
constexpr std::array kTenancies{json::Word<model::Tenancy>{"default", model::Tenancy::kDefault},
                                json::Word<model::Tenancy>{"dedicated", model::Tenancy::kDedicated},
                                json::Word<model::Tenancy>{"host", model::Tenancy::kHost}};
constexpr std::array kPublicAddresses{
    json::Word<model::PublicAddress>{"default", model::PublicAddress::kDefault},
    json::Word<model::PublicAddress>{"yes", model::PublicAddress::kYes},
    json::Word<model::PublicAddress>{"no", model::PublicAddress::kNo}};

/// A list of names that the cloud gave, each once.
void read_cloud_names(const json::Field& field, std::vector<std::string>& out) {
  std::set<std::string> taken;
  field.each(20, [&](const json::Field& element) {
    std::string name;
    if (!element.text(name, kCloudName)) return;
    claim_name(element, name, taken);
    out.push_back(std::move(name));
  });
}

/// Ids, or objects with `id` and `zone`.
void read_subnets(const json::Field& field, std::vector<model::Subnet>& out) {
  std::set<std::string> taken;
  const auto read_id = [&](const json::Field& id, model::Subnet& subnet) {
    if (id.text(subnet.id, kCloudName)) claim_name(id, subnet.id, taken);
  };
  field.each(100, [&](const json::Field& element) {
    auto& subnet = out.emplace_back();
    if (!element.value()->is(json::Kind::kObject)) return read_id(element, subnet);
    element.object([&](json::Object& o) {
      read_id(o.need("id"), subnet);
      o.may("zone").text(subnet.zone, {.bytes_max = 63, .one_line = true});
    });
  });
}

}  // namespace

void read_placement(json::Object& o, model::Placement& out) {
  o.may("root_disk").size(out.root_disk, 0, kBytesMax);
  read_subnets(o.may("subnets"), out.subnets);
  read_cloud_names(o.may("security_groups"), out.security_groups);
  read_cloud_names(o.may("profiles"), out.profiles);
  o.may("placement_group").text(out.placement_group, kCloudNameOrNone);
  o.may("capacity_reservation").text(out.capacity_reservation, kCloudNameOrNone);
  o.may("identity_profile").text(out.identity_profile, kCloudNameOrNone);
  o.may("tenancy").word(out.tenancy, kTenancies);
  o.may("public_address").word(out.public_address, kPublicAddresses);
}

}  // namespace hostler::config
