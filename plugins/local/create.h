#pragma once

#include <hostler/driver.h>

#include <string>
#include <vector>

#include "account.h"
#include "config.h"
#include "record.h"
#include "store.h"

namespace hostler::local {

/// A create request, checked and copied.
struct CreateSpec {
  Record record;  ///< Without zone, address and host key, unless they are asked for.
  Tags tags;
  std::string zone;  ///< Empty: any.
  std::string init_command, user_data;
  bool user_data_is_script = false;
  std::string host_key_private, host_key_public;  ///< Empty: to be made.
  std::string authorized_keys;
};

/// Throws driver::Error: INVALID, UNSUPPORTED.
CreateSpec read_request(const hostler_create_req& request, const Config& config,
                        const Account& account, const std::string& set_id, const Tags& shared_tags);

/// Throws INVALID.
void check_tags(const Tags& tags);

/// Everything of the instance that does not depend on the others: keys, boot plan, account,
/// scripts.
void furnish(const Draft& draft, const CreateSpec& spec, const Config& config, Record& record,
             const Account& account, hostler_op* op);

/// Where there is room for it, given those that are there: its zone. Throws QUOTA or CAPACITY.
std::string find_room(const CreateSpec& spec, const Config& config,
                      const std::vector<std::shared_ptr<const Record>>& others);

/// sshd's own config: needs the address.
std::string sshd_config(const InstanceFolder& published, const Record& record);

}  // namespace hostler::local
