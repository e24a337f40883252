#pragma once

#include <map>
#include <string>

#include "api.h"
#include "instance.h"

namespace hostler::ec2 {

/// What `query`, a DescribeInstances, shows, of all pages, by id: each instance once, and as the
/// later page says it where two have it. Throws as Api::each().
std::map<std::string, Instance> find_instances(const Api& api, const Query& query, hostler_op* op);

}  // namespace hostler::ec2
