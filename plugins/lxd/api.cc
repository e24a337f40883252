#include "api.h"

#include <chrono>
#include <random>
#include <utility>

namespace hostler::lxd {
namespace {

using driver::Error;

constexpr int kTries = 3;
/// Of one look at an operation: an operation takes as long as it takes, but LXD has to answer.
constexpr int kWaitSeconds = 20;
constexpr std::int64_t kWaitTimeoutMs = 30'000, kCancelTimeoutMs = 1'000;
constexpr std::int64_t kSuccess = 200, kCancelled = 401;

/// Retries of several calls should not come at once.
std::chrono::milliseconds pause_before(int attempt) {
  thread_local std::minstd_rand chance{std::random_device{}()};
  const int most = 200 << attempt;
  return std::chrono::milliseconds(std::uniform_int_distribution<int>(most / 2, most)(chance));
}

bool is_worth_retry(long status) {
  return status == 502 || status == kNotAvailable || status == 504;
}

}  // namespace

Api::Api(std::unique_ptr<Transport> transport, std::string project)
    : transport_(std::move(transport)), project_(std::move(project)) {}

std::string Api::instance(std::string_view name, std::string_view rest) {
  return "/1.0/instances/" + encoded(name) + std::string(rest);
}

std::string Api::in_project(const std::string& path) const {
  return path + (path.find('?') == std::string::npos ? "?" : "&") + "project=" + encoded(project_);
}

Answer Api::get(const std::string& path, hostler_op* op, std::int64_t timeout_ms) const {
  const HttpRequest request{"GET", in_project(path), {}, timeout_ms};
  for (int attempt = 1;; ++attempt) {
    std::optional<HttpAnswer> http;
    try {
      http = transport_->send(request, op);
    } catch (const NoAnswer& problem) {
      if (attempt == kTries || !problem.is_worth_retry()) throw;
    }
    if (http && (attempt == kTries || !is_worth_retry(http->status))) return Answer::read(*http);
    driver::pause(op, pause_before(attempt));
  }
}

std::string Api::text(const std::string& path, hostler_op* op) const {
  HttpAnswer http = transport_->send({"GET", in_project(path)}, op);
  if (http.status != 200) Answer::read(http);  // which throws
  return std::move(http.body);
}

std::optional<Answer> Api::find(const std::string& path, hostler_op* op) const {
  try {
    return get(path, op);
  } catch (const Refused& refused) {
    // A project that is not there has no instances either, but nothing can be said about them.
    if (says_missing(refused) && !says_missing_project(refused)) return std::nullopt;
    throw;
  }
}

Answer Api::begin(const std::string& method, const std::string& path, const std::string& body,
                  hostler_op* op) const {
  const HttpAnswer http = transport_->send({method, in_project(path), body}, op);
  try {
    return Answer::read(http);
  } catch (const NoAnswer& unreadable) {  // whatever it says, the request has arrived
    if (http.status == kNotAvailable) throw;
    throw NoAnswer(HOSTLER_E_TRANSIENT, unreadable.what(), true);
  }
}

void Api::finish(const Answer& begun, hostler_op* op) const {
  if (!begun.is_operation()) return;
  const std::string look = begun.operation() + "/wait?timeout=" + std::to_string(kWaitSeconds);
  for (;;) {
    try {
      const HttpRequest request{"GET", in_project(look), {}, kWaitTimeoutMs};
      const Answer answer = Answer::read(transport_->send(request, op));
      const Value& operation = answer.metadata();
      const std::int64_t code = number_of(operation, "status_code");
      if (code == kSuccess) return;
      if (code == kCancelled) throw Error(HOSTLER_E_TRANSIENT, "LXD has cancelled it");
      if (code >= 400) throw Refused(static_cast<int>(0), text_of(operation, "err"));
      if (code < 100) throw_not_lxd("an operation without a status");
    } catch (const NoAnswer& problem) {
      if (op->is_cancelled(op) != 0) cancel(begun.operation());
      NoAnswer unknown = problem;
      unknown.outcome_unknown();
      throw unknown;
    } catch (const Refused& refused) {
      if (!says_missing(refused)) throw;
      throw NoAnswer(HOSTLER_E_TRANSIENT, "LXD has forgotten what it was doing: was it restarted?",
                     true);
    } catch (Error& cancelled) {
      cancelled.outcome_unknown();
      throw;
    }
  }
}

void Api::cancel(const std::string& operation) const noexcept {
  try {
    transport_->send({"DELETE", in_project(operation), {}, kCancelTimeoutMs}, nullptr);
  } catch (...) {  // LXD goes on then, and a list will show what became of it
    return;
  }
}

void Api::change(const std::string& method, const std::string& path, const std::string& body,
                 hostler_op* op) const {
  finish(begin(method, path, body, op), op);
}

}  // namespace hostler::lxd
