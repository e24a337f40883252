#include "core/api/handlers.h"
#include "core/api/views_json.h"
#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::api {
namespace {

using By = CostQuery::By;

Result<By> read_by(const std::string& text) {
  static const std::pair<const char*, By> kNames[] = {
      {"user", By::kUser}, {"job", By::kJob},   {"instance", By::kInstance},
      {"type", By::kType}, {"pool", By::kPool}, {"set", By::kSet}};
  for (const auto& [name, by] : kNames)
    if (text == name) return by;
  return fail(Errc::kInvalidArgument,
              "?by= is user, job, instance, type, pool or set, not '" + printable(text, 40) + "'");
}

/// Zero if the key is not given.
Result<Wall> query_time(const Request& request, const char* key) {
  const auto given = request.query.find(key);
  if (given == request.query.end()) return Wall{};
  const std::string& text = given->second;
  if (const auto time = parse_wall(text)) return *time;
  return fail(Errc::kInvalidArgument, "?" + std::string(key) + "= is a time such as " +
                                          "2026-11-21T00:00:00Z, not '" + printable(text, 40) +
                                          "'");
}

Result<CostQuery> read_cost_query(const Request& request) {
  CostQuery query;
  query.by = HOSTLER_TRY(read_by(request.query_or("by", "user")));
  query.since = HOSTLER_TRY(query_time(request, "since"));
  query.until = HOSTLER_TRY(query_time(request, "until"));
  query.limit = static_cast<std::size_t>(HOSTLER_TRY(query_number(request, "limit", 100, 10'000)));
  return query;
}

}  // namespace

void get_prices(const Context& context, Request request, Respond respond) {
  for (const char* key : {"set", "type"})
    if (request.query.contains(key) && !is_name(request.query_or(key, "")))
      return respond(error_response(
          {Errc::kInvalidArgument, "?" + std::string(key) + "= is a name of the configuration"}));
  const auto limit = query_number(request, "limit", 1000, 10'000);
  if (!limit) return respond(error_response(limit.error()));
  const PriceQuery query{request.query_or("set", ""), request.query_or("type", ""),
                         static_cast<std::size_t>(*limit)};
  context.service->prices(request.who, query,
                          json_answer<PricesView>(std::move(respond), write_prices));
}

void get_quotas(const Context& context, Request request, Respond respond) {
  context.service->quotas(
      request.who, request.query_or("principal", ""),
      json_answer<std::vector<model::QuotaView>>(
          std::move(respond), [](json::Writer& w, const std::vector<model::QuotaView>& views) {
            w.begin_object().key("quotas").begin_array();
            for (const auto& view : views) write_quota(w, view);
            w.end_array().end_object();
          }));
}

void get_cost(const Context& context, Request request, Respond respond) {
  const auto query = read_cost_query(request);
  if (!query) return respond(error_response(query.error()));
  context.service->cost(request.who, *query,
                        json_answer<model::CostView>(std::move(respond), write_cost));
}

void get_shares(const Context& context, Request request, Respond respond) {
  context.service->shares(request.who,
                          json_answer<model::SharesView>(std::move(respond), write_shares));
}

}  // namespace hostler::api
