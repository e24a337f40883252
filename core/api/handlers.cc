#include "core/api/handlers.h"

#include "core/api/access.h"
#include "core/api/feeds.h"
#include "core/api/openapi.h"
#include "core/api/views_json.h"

namespace hostler::api {

Answer<void> empty_answer(Respond respond) {
  return [respond = std::move(respond)](Result<void> result) {
    if (!result) return respond(error_response(result.error()));
    Response response;
    response.body = "{}\n";
    respond(std::move(response));
  };
}

Answer<std::string> text_answer(Respond respond) {
  return [respond = std::move(respond)](Result<std::string> result) {
    if (!result) return respond(error_response(result.error()));
    Response response;
    response.body = std::move(*result);
    if (!response.body.ends_with('\n')) response.body += '\n';
    respond(std::move(response));
  };
}

Result<void> need_role(const Principal& who, Role role) {
  const bool in_order = who.role != Role::kScaler && role != Role::kScaler;
  if (in_order && who.role >= role) return {};
  return fail(Errc::kForbidden, (who.name.empty() ? "an anonymous client" : who.name) +
                                    " has the role " + to_string(who.role) + "; this needs " +
                                    to_string(role));
}

Result<std::uint64_t> query_number(const Request& request, const std::string& key,
                                   std::uint64_t fallback, std::uint64_t max) {
  const auto found = request.query.find(key);
  if (found == request.query.end()) return fallback;
  const auto number = parse_u64(found->second);
  if (number && *number <= max) return *number;
  return fail(Errc::kInvalidArgument, "?" + key + "=" + printable(found->second, 40) +
                                          ": a whole number up to " + std::to_string(max) +
                                          " is needed");
}

Result<bool> query_flag(const Request& request, const std::string& key, bool fallback) {
  const std::string text = request.query_or(key, fallback ? "1" : "0");
  if (text == "0" || text == "1") return text == "1";
  return fail(Errc::kInvalidArgument, "?" + key + "=" + printable(text, 40) + ": 0 or 1 is needed");
}

/// The only route that clients without a role may use. Neither they nor schedulers see the text of
/// problems.
void get_health(const Context& context, Request request, Respond respond) {
  const HealthView health = context.service->health();
  Response response;
  response.status = health.ok ? 200 : 503;
  json::Writer w(response.body);
  const bool in_full = !request.who.name.empty() && request.who.role != Role::kScaler;
  write_health(w, health, in_full);
  response.body += '\n';
  respond(std::move(response));
}

void get_metrics(const Context& context, Request, Respond respond) {
  Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = context.service->metrics_text();
  respond(std::move(response));
}

void get_openapi(const Context&, Request, Respond respond) {
  Response response;
  response.body = openapi_json();
  respond(std::move(response));
}

/// It holds every secret of the site, so it never goes over a plain connection.
void get_backup(const Context& context, Request request, Respond respond) {
  if (!request.is_private)
    return respond(error_response(
        {Errc::kForbidden,
         "a backup has secrets in it: ask for it over the unix socket or over TLS"}));
  context.service->backup(
      request.who, [respond = std::move(respond)](Result<std::shared_ptr<ByteSource>> source) {
        if (!source) return respond(error_response(source.error()));
        Response response;
        response.feed = send_bytes(*std::move(source));
        response.feed_type = "application/x-tar";
        respond(std::move(response));
      });
}

}  // namespace hostler::api
