#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/api/http.h"
#include "core/api/push_queue.h"
#include "core/api/routes.h"
#include "core/json/writer.h"

/// Private to core/api: the handlers of the routes. The role of a route is checked before its
/// handler is called; the service checks rights that depend on the subject.
namespace hostler::api {

/// Longest key of a gate, in bytes. Keys have names of the configuration and of drivers in them.
inline constexpr std::size_t kGateKeyMax = 1024;

/// Longest body with a configuration, in bytes: its text is a string of JSON.
inline constexpr std::size_t kConfigBodyMax = std::size_t{8} << 20;

/// The agents and tasks of a push take at most so many times the memory of its text.
inline constexpr std::uint64_t kPushInMemory = 4;

struct Context {
  Service* service;
  Limits limits;
  std::shared_ptr<PushQueue> pushes;
};

void get_health(const Context&, Request, Respond);
void get_metrics(const Context&, Request, Respond);
void get_openapi(const Context&, Request, Respond);
void get_backup(const Context&, Request, Respond);

void post_jobs(const Context&, Request, Respond);
void post_dry_run(const Context&, Request, Respond);
void get_jobs(const Context&, Request, Respond);
void get_job(const Context&, Request, Respond);
void post_cancel(const Context&, Request, Respond);
void post_release(const Context&, Request, Respond);
void post_release_held(const Context&, Request, Respond);
void post_cancel_held(const Context&, Request, Respond);
void post_lease(const Context&, Request, Respond);
void post_dry_run_lease(const Context&, Request, Respond);
void get_leases(const Context&, Request, Respond);
void get_lease(const Context&, Request, Respond);
void post_return(const Context&, Request, Respond);
void post_renew(const Context&, Request, Respond);
void get_output(const Context&, Request, Respond);
void get_files(const Context&, Request, Respond);
void delete_outputs(const Context&, Request, Respond);
void post_give_up_output(const Context&, Request, Respond);
void get_file(const Context&, Request, Respond);
void get_blob(const Context&, Request, Respond);
void put_blob(const Context&, Request, Respond);

void get_instances(const Context&, Request, Respond);
void post_idle_behavior(const Context&, Request, Respond);
void post_kill(const Context&, Request, Respond);
void post_ready(const Context&, Request, Respond);
void get_pools(const Context&, Request, Respond);
void get_scaling_info(const Context&, Request, Respond);
void put_scaling_info(const Context&, Request, Respond);
void get_types(const Context&, Request, Respond);
void get_sets(const Context&, Request, Respond);
void get_console(const Context&, Request, Respond);
void post_accept_account(const Context&, Request, Respond);
void post_believe(const Context&, Request, Respond);
void post_give_up(const Context&, Request, Respond);
void get_prices(const Context&, Request, Respond);
void get_cost(const Context&, Request, Respond);
void get_quotas(const Context&, Request, Respond);
void get_shares(const Context&, Request, Respond);
void get_gates(const Context&, Request, Respond);
void post_open_gate(const Context&, Request, Respond);
void get_why(const Context&, Request, Respond);
void get_plan(const Context&, Request, Respond);
void get_plan_snapshot(const Context&, Request, Respond);
void get_dump(const Context&, Request, Respond);
void post_config_diff(const Context&, Request, Respond);
void get_events(const Context&, Request, Respond);

/// Answers with the value as JSON, by `write`, or with the error. The JSON is made on the server's
/// thread, because the thread that answers may be the loop's.
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
/// Answers with text that is JSON already, or with the error.
Answer<std::string> text_answer(Respond respond);
/// Answers `{}` or with the error.
Answer<void> empty_answer(Respond respond);

/// kForbidden unless the principal has at least this role, of those that have an order.
Result<void> need_role(const Principal& who, Role role);
/// Work of the kind that the path is about: "j-42" of `/v1/jobs/j-42`, "l-3" of `/v1/leases/l-3`;
/// or kInvalidArgument.
Result<model::WorkId> path_work(const Request& request);
/// The query of a list of such work.
Result<WorkFilter> read_filter(const Request& request);
/// A whole number of the query, at most `max`, or `fallback` if the key is not given.
Result<std::uint64_t> query_number(const Request& request, const std::string& key,
                                   std::uint64_t fallback, std::uint64_t max);
/// 0 or 1 of the query, or `fallback` if the key is not given.
Result<bool> query_flag(const Request& request, const std::string& key, bool fallback);

}  // namespace hostler::api
