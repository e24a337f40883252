#pragma once

#include <hostler/driver.h>

#include <string>
#include <vector>

#include "account.h"
#include "config.h"
#include "record.h"
#include "store.h"

namespace hostler::local {

/// A validated copy of a create request.
struct CreateSpec {
  Record record;  ///< Zone, address and host key are set only if the request has them.
  Tags tags;
  std::string zone;  ///< Empty: any zone.
  std::string user_data;
  std::string host_key_private, host_key_public;  ///< Empty: make a new key.
  std::string authorized_keys;
};

/// Validates a request. Throws driver::Error: INVALID, UNSUPPORTED.
CreateSpec read_request(const hostler_create_req& request, const Config& config,
                        const Account& account, const std::string& set_id, const Tags& shared_tags);

/// Throws INVALID if the tags are not allowed.
void check_tags(const Tags& tags);

/// Writes the files of the instance that do not depend on other instances: keys, boot plan,
/// account, scripts.
void write_files(const Draft& draft, const CreateSpec& spec, const Config& config, Record& record,
                 const Account& account, hostler_op* op);

/// Returns a zone in which the instance may be created beside the `others`. Throws QUOTA or
/// CAPACITY.
std::string find_zone(const CreateSpec& spec, const Config& config,
                      const std::vector<std::shared_ptr<const Record>>& others);

/// The config of sshd. `record` must have its address.
std::string sshd_config(const InstanceFolder& published, const Record& record);

}  // namespace hostler::local
