#include "api.h"

#include <chrono>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "http/text.h"

namespace hostler::ec2 {
namespace {

using http::NoAnswer;

constexpr int kTries = 3;
constexpr std::size_t kPagesMax = 1000, kItemsMax = 200'000;
constexpr std::int64_t kTimeoutMs = 60'000;
/// Amazon takes a request that is off by five minutes.
constexpr std::int64_t kClockOffS = 240;

/// Retries of several calls should not come at once.
std::chrono::milliseconds pause_before(int attempt, int first_ms) {
  thread_local std::minstd_rand chance{std::random_device{}()};
  const int most = first_ms << (attempt - 1);
  return std::chrono::milliseconds(std::uniform_int_distribution<int>(most / 2, most)(chance));
}

/// If Amazon says when to ask again, the driver does not retry: the error carries the time, and
/// hostlerd waits.
bool is_worth_retry(const Refused& refused) {
  return refused.retry_after_s() == 0 && (refused.says_too_many() || refused.status() >= 500);
}

/// How many seconds the clock of this machine is ahead.
std::int64_t clock_off_s(const http::Answer& answer) {
  if (answer.date_unix_s == 0) return 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count() - answer.date_unix_s;
}

void explain_clock(Refused& refused, const http::Answer& answer) {
  const std::int64_t off = clock_off_s(answer);
  if (refused.meaning() != HOSTLER_E_AUTH || (off < kClockOffS && off > -kClockOffS)) return;
  refused.explain(" (the clock of this machine is " + std::to_string(off < 0 ? -off : off) + " s " +
                  (off < 0 ? "behind" : "ahead of") + " Amazon's: set it)");
}

/// Whether other keys may help.
bool refuses_keys(const Refused& refused) {
  return refused.meaning() == HOSTLER_E_AUTH && refused.code() != "UnauthorizedOperation" &&
         refused.code().compare(0, 12, "AccessDenied") != 0;
}

}  // namespace

Api::Api(std::shared_ptr<http::Transport> transport, Service service,
         std::shared_ptr<KeySource> keys)
    : transport_(std::move(transport)), service_(std::move(service)), keys_(std::move(keys)) {}

Answer Api::send_with(const Keys& keys, const Query& query, bool changes, hostler_op* op) const {
  http::Request request;
  request.method = "POST";
  request.path = "/";
  request.body = query.body(service_.version);
  request.timeout_ms = kTimeoutMs;
  request.signature = http::Signature{keys.access_key_id, keys.secret_access_key,
                                      keys.session_token, service_.region, service_.name};
  request.is_question = !changes;
  request.is_repeatable = true;  // EC2 does what was done already no second time
  const http::Answer answer = transport_->send(request, op);
  try {
    return Answer::read(answer, query.action(), service_.version);
  } catch (Refused& refused) {
    if (changes) refused.was_change();
    refused.wants_pause(answer.retry_after_s);
    explain_clock(refused, answer);
    throw;
  } catch (const NoAnswer& unreadable) {  // whatever it says, the request has arrived
    throw NoAnswer(HOSTLER_E_TRANSIENT, unreadable.what(), changes);
  }
}

Answer Api::send(const Query& query, bool changes, hostler_op* op) const {
  const Keys keys = keys_->get(op);
  try {
    return send_with(keys, query, changes, op);
  } catch (const Refused& refused) {
    if (!refuses_keys(refused) || !keys_->refused(keys)) throw;
  }
  return send_with(keys_->get(op), query, changes, op);
}

Answer Api::ask(const Query& query, hostler_op* op) const {
  for (int attempt = 1;; ++attempt) {
    try {
      return send(query, false, op);
    } catch (const NoAnswer& problem) {
      if (attempt == kTries || !problem.is_worth_retry()) throw;
    } catch (const Refused& refused) {
      if (attempt == kTries || !is_worth_retry(refused)) throw;
    }
    if (op != nullptr) driver::pause(op, pause_before(attempt, service_.retry_pause_ms));
  }
}

Answer Api::change(const Query& query, hostler_op* op) const { return send(query, true, op); }

void Api::each(const Query& query, int page_size, const char* list, const Visit& visit,
               hostler_op* op) const {
  Query page = query;
  if (page_size != 0) page.add("MaxResults", std::to_string(page_size));
  std::set<std::string> seen;
  std::size_t items = 0;
  for (std::string token;;) {
    Query next = page;
    next.add("NextToken", token);
    const Answer answer = ask(next, op);
    for (const Node& item : answer.need(list).children("item")) {
      if (++items > kItemsMax)
        throw NoAnswer(HOSTLER_E_TRANSIENT, query.action() + " has more than 200,000 items", false);
      visit(item);
    }
    token = text_of(answer.root(), "nextToken");
    if (token.empty()) return;
    if (!seen.insert(token).second || seen.size() > kPagesMax)
      throw NoAnswer(HOSTLER_E_TRANSIENT,
                     query.action() + " has pages without an end: the mark of page " +
                         std::to_string(seen.size() + 1) + " has been there before",
                     false);
  }
}

Keys assume_role(const Api& sts, const std::string& role_arn, const std::string& external_id,
                 hostler_op* op) {
  return with_context("assume the role " + role_arn, [&] {
    Query query("AssumeRole");
    query.add("RoleArn", role_arn).add("RoleSessionName", "hostler");
    query.add("DurationSeconds", "3600").add("ExternalId", external_id);
    const Answer answer = sts.ask(query, op);
    const Node given = answer.need("AssumeRoleResult").child("Credentials");
    Keys out;
    out.access_key_id = text_of(given, "AccessKeyId");
    out.secret_access_key = text_of(given, "SecretAccessKey");
    out.session_token = text_of(given, "SessionToken");
    out.expires_unix_s = http::read_time_ns(text_of(given, "Expiration")) / 1'000'000'000;
    if (out.access_key_id.empty() || out.secret_access_key.empty() || out.session_token.empty() ||
        out.expires_unix_s == 0)
      throw_not_amazon("the keys of a role without all of their parts");
    return out;
  });
}

}  // namespace hostler::ec2
