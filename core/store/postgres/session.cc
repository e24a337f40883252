#include "core/store/postgres/session.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "core/base/text.h"
#include "core/log/log.h"
#include "core/store/postgres/failures.h"

namespace hostler::store::postgres {
namespace {

/// After this time people are told, though the answer may still come.
constexpr int kSilenceMs = 3'000;

std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "; ");
  return printable(text, 500);
}

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

/// A configuration is copied and shown to others, so it must not contain a password.
Result<void> refuse_passwords(const std::string& conninfo) {
  char* said = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(
      PQconninfoParse(conninfo.c_str(), &said));
  const std::unique_ptr<char, decltype(&PQfreemem)> problem(said, &PQfreemem);
  if (!options)  // the message of libpq would quote the string
    return fail(Errc::kInvalidArgument,
                "store.postgres is no connection string; one looks like "
                "\"host=/run/postgresql dbname=hostler\"");
  for (const auto* option = options.get(); option->keyword != nullptr; ++option)
    if (option->val != nullptr && std::strstr(option->keyword, "password") != nullptr)
      return fail(Errc::kInvalidArgument,
                  "store.postgres holds a password: take it out, put it into a file of mode 0600 "
                  "and name that by passfile=");
  return {};
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(const std::string& conninfo, const std::string& name,
                                               int connect_s, int answer_ms) {
  HOSTLER_TRY(refuse_passwords(conninfo));
  const auto connect_timeout = std::to_string(connect_s);
  // Options before dbname are defaults; options after it override the connection string.
  const std::array<std::pair<const char*, const char*>, 9> options{
      {{"connect_timeout", connect_timeout.c_str()},
       {"keepalives_idle", "10"},
       {"keepalives_interval", "5"},
       {"keepalives_count", "3"},
       {"tcp_user_timeout", "20000"},
       {"target_session_attrs", "read-write"},
       {"dbname", conninfo.c_str()},
       {"application_name", name.c_str()},
       {"client_encoding", "UTF8"}}};
  std::array<const char*, options.size() + 1> keys{}, values{};
  for (std::size_t i = 0; i < options.size(); ++i) std::tie(keys[i], values[i]) = options[i];
  std::unique_ptr<Session> session(
      new Session(PQconnectdbParams(keys.data(), values.data(), /*expand_dbname=*/1), answer_ms));
  if (PQstatus(session->get()) != CONNECTION_OK) {
    const auto message = session->message();
    return fail(Errc::kUnavailable, message + std::string(advice_on_refusal(message)));
  }
  PQsetNoticeProcessor(
      session->get(),
      [](void*, const char* text) { log::warn("store", "PostgreSQL: " + one_line(text)); },
      nullptr);
  if (PQsetnonblocking(session->get(), 1) != 0) return fail(Errc::kUnavailable, session->message());
  return session;
}

bool Session::wait(short events) {
  const auto poll_for = [&](int timeout_ms) {
    pollfd from{PQsocket(get()), events, 0};
    int ready = 0;
    do {
      ready = ::poll(&from, 1, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
  };
  const bool tells = on_silence_ && (answer_ms_ < 0 || answer_ms_ > kSilenceMs);
  if (tells) {
    if (poll_for(kSilenceMs)) return true;
    on_silence_("PostgreSQL has not answered for " + std::to_string(kSilenceMs / 1000) + " s");
  }
  if (poll_for(tells && answer_ms_ > 0 ? answer_ms_ - kSilenceMs : answer_ms_)) return true;
  problem_ = "the server has not answered for " + std::to_string(answer_ms_ / 1000) + " s";
  broken_ = true;
  return false;
}

bool Session::is_alive() {
  if (broken_) return false;
  // A last message may come before the end.
  for (pollfd from{PQsocket(get()), POLLIN, 0}; !broken_ && ::poll(&from, 1, 0) > 0;)
    broken_ = PQconsumeInput(get()) == 0 || PQstatus(get()) != CONNECTION_OK;
  return !broken_;
}

bool Session::flush() {
  for (;;) {
    if (broken_) return false;
    const int left = PQflush(get());
    if (left == 0) return true;
    if (left < 0) {
      broken_ = true;
      return false;
    }
    // The server may wait until its answers are read.
    if (!wait(POLLIN | POLLOUT)) return false;
    if (PQconsumeInput(get()) == 0) broken_ = true;
  }
}

ResultPtr Session::next_result() {
  while (!broken_ && PQisBusy(get()) != 0) {
    if (!wait(POLLIN)) return nullptr;
    // After a failure PQgetResult returns the reason.
    if (PQconsumeInput(get()) == 0) break;
  }
  if (broken_) return nullptr;
  ResultPtr result(PQgetResult(get()));
  if (PQstatus(get()) != CONNECTION_OK) broken_ = true;
  return result;
}

ResultPtr Session::execute(const std::string& sql) {
  if (broken_ || PQsendQuery(get(), sql.c_str()) == 0 || !flush()) return nullptr;
  ResultPtr last;
  while (auto result = next_result()) {
    const bool failed = PQresultStatus(result.get()) == PGRES_FATAL_ERROR;
    last = std::move(result);
    if (failed && broken_) break;
  }
  return last;
}

Result<std::string> Session::value(const std::string& sql) {
  const auto result = execute(sql);
  if (!result) return fail(Errc::kUnavailable, message());
  if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR)
    return tl::unexpected(error_of(result.get(), sql.substr(0, 60)));
  if (PQntuples(result.get()) == 0) return std::string();
  return std::string(PQgetvalue(result.get(), 0, 0));
}

std::string Session::message() const {
  return problem_.empty() ? one_line(PQerrorMessage(get())) : problem_;
}

std::string_view sqlstate_of(const PGresult* result) {
  const char* code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return code != nullptr ? code : "";
}

Error error_of(const PGresult* result, std::string_view doing) {
  const auto code = sqlstate_of(result);
  // Only the primary message: the detail of a broken constraint quotes the row.
  const char* said = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  std::string message(doing);
  message += ": " + one_line(said != nullptr ? said : PQresultErrorMessage(result));
  message += advice(code);
  const bool passing = failure_of(code) == Failure::kTransient && !code.starts_with("XX");
  return {passing ? Errc::kUnavailable : Errc::kInternal, std::move(message)};
}

}  // namespace hostler::store::postgres
