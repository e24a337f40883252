#include "find_instances.h"

#include <utility>

namespace hostler::ec2 {

std::map<std::string, Instance> find_instances(const Api& api, const Query& query, hostler_op* op) {
  constexpr int kPageSize = 1000;
  std::map<std::string, Instance> out;
  api.each(
      query, kPageSize, "reservationSet",
      [&](const Node& reservation) {
        for (const Node& item : reservation.child("instancesSet").children("item")) {
          Instance one = read_instance(item);
          out.insert_or_assign(one.id, std::move(one));
        }
      },
      op);
  return out;
}

}  // namespace hostler::ec2
