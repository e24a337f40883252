#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace hostler::store::postgres {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, ClearResult>;

/// A parameter as libpq takes it: text that ends in NUL.
using Parameters = std::vector<const char*>;

/// One session with a server: libpq, but nothing waits for ever. Threads: one at a time. Blocking:
/// on the server, for an answer time without a word from it at most; then, and whenever the
/// connection fails, the session is broken and stays so.
class Session {
 public:
  /// `name` is what the server's admin sees it as. kUnavailable if no server could be reached;
  /// kInvalidArgument if `conninfo` is no connection string, or holds a password.
  static Result<std::unique_ptr<Session>> open(const std::string& conninfo, const std::string& name,
                                               int connect_s, int answer_ms);

  [[nodiscard]] PGconn* get() const { return connection_.get(); }
  [[nodiscard]] bool broken() const { return broken_; }
  void give_up() { broken_ = true; }
  void set_answer_ms(int answer_ms) { answer_ms_ = answer_ms; }
  /// False: the server has ended the session meanwhile. Only while no answer is expected.
  bool stands();

  /// Statements without parameters, to their end; the last result.
  ResultPtr execute(const std::string& sql);
  /// The first value that a statement gives; empty if there is no row.
  Result<std::string> value(const std::string& sql);

  /// Sends what libpq has buffered. False: the session broke.
  bool flush();
  /// The next result; null: no more of this statement, or the session broke.
  ResultPtr next_result();
  /// The last error of the connection, in one line.
  [[nodiscard]] std::string message() const;

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  Session(PGconn* connection, int answer_ms) : connection_(connection), answer_ms_(answer_ms) {}
  bool wait(short events);

  std::unique_ptr<PGconn, Finish> connection_;
  int answer_ms_;
  bool broken_ = false;
  std::string problem_;  ///< Our own, if libpq has none.
};

/// "the statement's begin: the server's message", without what the statement was about, which may
/// be secret.
Error error_of(const PGresult* result, std::string_view doing);
std::string_view sqlstate_of(const PGresult* result);

}  // namespace hostler::store::postgres
