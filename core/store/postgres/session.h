#pragma once

#include <libpq-fe.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace hostler::store::postgres {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, ClearResult>;

/// A parameter as libpq takes it: text that ends in NUL.
using Parameters = std::vector<const char*>;

/// One session with a server: libpq with timeouts. Threads: one at a time. Calls block until the
/// server answers, at most for the answer time (below 0: no limit). After that time, or if the
/// connection fails, the session is broken for good.
class Session {
 public:
  /// The server shows `name` to its admin. kUnavailable if no server could be reached;
  /// kInvalidArgument if `conninfo` is no connection string, or contains a password.
  static Result<std::unique_ptr<Session>> open(const std::string& conninfo, const std::string& name,
                                               int connect_s, int answer_ms);

  [[nodiscard]] PGconn* get() const { return connection_.get(); }
  [[nodiscard]] bool broken() const { return broken_; }
  void give_up() { broken_ = true; }
  void set_answer_ms(int answer_ms) { answer_ms_ = answer_ms; }
  /// See Connection::set_on_silence().
  void set_on_silence(std::function<void(const std::string&)> on_silence) {
    on_silence_ = std::move(on_silence);
  }
  /// False: the server has ended the session. Call it only while no answer is expected.
  bool is_alive();

  /// Runs statements without parameters to their end; returns the last result.
  ResultPtr execute(const std::string& sql);
  /// The first value of the first row; empty if there is no row.
  Result<std::string> value(const std::string& sql);

  /// Sends what libpq has buffered. False: the session broke.
  bool flush();
  /// The next result. Null: the statement has no more, or the session broke.
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
  std::function<void(const std::string&)> on_silence_;
  bool broken_ = false;
  std::string problem_;  ///< Set if libpq has no message.
};

/// "the first words of the statement: the server's message", without the values, which may be
/// secret.
Error error_of(const PGresult* result, std::string_view doing);
std::string_view sqlstate_of(const PGresult* result);

}  // namespace hostler::store::postgres
