#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/api/http.h"
#include "core/api/routes.h"
#include "core/json/writer.h"

/// Inside api: what each route does. Its role was checked; rights that depend on the subject are
/// the service's.
namespace hostler::api {

struct Context {
  Service* service;
  Limits limits;
};

void get_health(const Context&, Request, Respond);
void get_metrics(const Context&, Request, Respond);
void get_openapi(const Context&, Request, Respond);

void post_jobs(const Context&, Request, Respond);
void get_jobs(const Context&, Request, Respond);
void get_job(const Context&, Request, Respond);
void post_cancel(const Context&, Request, Respond);
void get_output(const Context&, Request, Respond);
void get_files(const Context&, Request, Respond);
void get_file(const Context&, Request, Respond);
void get_blob(const Context&, Request, Respond);
void put_blob(const Context&, Request, Respond);

void get_instances(const Context&, Request, Respond);
void post_idle_behavior(const Context&, Request, Respond);
void post_kill(const Context&, Request, Respond);
void get_pools(const Context&, Request, Respond);
void get_sets(const Context&, Request, Respond);
void get_prices(const Context&, Request, Respond);
void get_cost(const Context&, Request, Respond);
void get_gates(const Context&, Request, Respond);
void get_why(const Context&, Request, Respond);
void get_events(const Context&, Request, Respond);

/// Answers with JSON that `write` makes of the value, or with the error. Made on the server's
/// thread: the one that answers may be the loop, which has better to do.
template <class T, class Write>
Answer<T> json_answer(Respond respond, Write write) {
  return [respond = std::move(respond), write = std::move(write)](Result<T> result) {
    if (!result) return respond(error_response(result.error()));
    Response response;
    response.make_body = [value = std::make_shared<const T>(std::move(*result)), write] {
      std::string body;
      json::Writer w(body);
      write(w, *value);
      return body += '\n';
    };
    respond(std::move(response));
  };
}
/// Answers `{}` or with the error.
Answer<void> empty_answer(Respond respond);

/// kForbidden unless the principal has at least this role.
Result<void> need_role(const Principal& who, Role role);
/// "j-42" of the path's third segment, or kInvalidArgument.
Result<model::WorkId> path_job(const Request& request);
/// A whole number of the query within bounds, or `otherwise` where it is not given.
Result<std::uint64_t> query_number(const Request& request, const std::string& key,
                                   std::uint64_t otherwise, std::uint64_t max);
/// 0 or 1 of the query, or `otherwise` where it is not given.
Result<bool> query_flag(const Request& request, const std::string& key, bool otherwise);

}  // namespace hostler::api
