#pragma once

#include <functional>
#include <memory>
#include <string>

#include "answer.h"
#include "errors.h"
#include "keys.h"
#include "query.h"

namespace hostler::ec2 {

/// One service of Amazon's with a Query API, in one region. From any thread, several at once. All
/// of it throws Refused, and driver::Error where no answer of Amazon's came.
class Api {
 public:
  struct Service {
    std::string name;     ///< "ec2", as it is signed.
    std::string version;  ///< "2016-11-15"
    std::string region;
    int retry_pause_ms = 0;  ///< At most so much before a second try, then twice as much.
  };
  using Visit = std::function<void(const Node& item)>;

  Api(std::shared_ptr<http::Transport> transport, Service service, std::shared_ptr<KeySource> keys);

  /// What changes nothing. Tried up to three times, with pauses of random length, while nothing
  /// answers or there were too many requests.
  Answer ask(const Query& query, hostler_op* op) const;
  /// Sent once.
  Answer change(const Query& query, hostler_op* op) const;
  /// Each <item> of `list` in the answers to `query`, of all pages. `visit` keeps no node. Throws
  /// an error with the status TRANSIENT for pages without an end.
  /// \param page_size as MaxResults; 0: EC2 decides.
  void each(const Query& query, int page_size, const char* list, const Visit& visit,
            hostler_op* op) const;

 private:
  Answer send(const Query& query, bool changes, hostler_op* op) const;
  Answer send_with(const Keys& keys, const Query& query, bool changes, hostler_op* op) const;

  const std::shared_ptr<http::Transport> transport_;
  const Service service_;
  const std::shared_ptr<KeySource> keys_;
};

/// Keys of the role `role_arn`. \param sts the service that gives them.
Keys assume_role(const Api& sts, const std::string& role_arn, const std::string& external_id,
                 hostler_op* op);

/// Runs `body`; what EC2 refuses becomes an error that says what was tried.
template <class Body>
auto with_context(const std::string& what, const Subject& subject, const Body& body) {
  try {
    return body();
  } catch (const Refused& refused) {
    throw refusal_error(refused, what, subject);
  }
}
template <class Body>
auto with_context(const std::string& what, const Body& body) {
  return with_context(what, Subject{}, body);
}

inline std::string text(const hostler_str& from) { return std::string(driver::view(from)); }

}  // namespace hostler::ec2
