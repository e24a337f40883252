// REPLACE THIS: the client of your cloud. Here it is that of `hostler-hosts`, machines for tests: a
// request is a line of JSON on a TCP connection, and so is the answer.
#pragma once

#include <hostler/driver.hpp>
#include <string>

#include "json.hpp"

class Cloud {
 public:
  // Reads "endpoint" of the config and "token" of the credentials. Throws what is wrong.
  explicit Cloud(const hostler_set_config& config);

  // Sends {"op": op, members} with the token, and waits for the answer until the deadline or a
  // cancel of `op`. `members` is empty, or begins with a comma. A refusal is thrown.
  Json ask(hostler_op* op, const std::string& what, const std::string& members = {}) const;

  // Where it is: for the account.
  const std::string& host() const { return host_; }

 private:
  std::string host_, port_;
  std::string token_;  // SECRET
};
