#pragma once

#include <map>
#include <string>

#include "core/base/files.h"
#include "core/json/document.h"

/// HTTP by hand, so that a test can say what no client library would.
namespace hostler::api {

struct Reply {
  int status = 0;                              ///< 0: the connection ended without an answer.
  std::map<std::string, std::string> headers;  ///< Names in lower case.
  std::string body;

  /// The error that the body tells; empty texts where it tells none.
  [[nodiscard]] std::string code() const { return member("code"); }
  [[nodiscard]] std::string message() const { return member("message"); }
  [[nodiscard]] std::string path() const { return member("path"); }
  [[nodiscard]] std::string member(const std::string& key) const;
};

/// One connection. Reads give up after a minute.
class Wire {
 public:
  static Wire to_socket(const std::string& path);
  static Wire to_port(unsigned short port);

  /// False once the other side has had enough.
  bool send(const std::string& bytes);
  void finish_sending();
  /// The next answer; `has_body` false: to a HEAD.
  Reply read(bool has_body = true);
  /// Up to and with `mark`, or all that came until the end.
  std::string read_until(const std::string& mark);
  /// The other side has closed the connection.
  bool is_over();
  /// The same of a unix socket, and nothing is read of what came before. Gives up after 20 s, when
  /// the server's own deadlines have not yet passed.
  bool is_cut_off();

  Reply ask(const std::string& method, const std::string& target, const std::string& body = "",
            const std::string& headers = "");

 private:
  explicit Wire(int fd) : fd_(fd) {}
  bool more();

  UniqueFd fd_;
  std::string read_;
};

}  // namespace hostler::api
