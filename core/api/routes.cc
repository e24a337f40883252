#include "core/api/routes.h"

#include <algorithm>
#include <chrono>

#include "core/api/route_table.h"

namespace hostler::api {
namespace {

/// The maximum body of requests other than submits and blobs.
constexpr std::uint64_t kSmallBody = 65536;

std::string shown_path(const std::vector<std::string>& path) {
  std::string out;
  for (const auto& part : path) out += "/" + printable(part, 60);
  return out.empty() ? "/" : out;
}

/// Refuses unknown keys: with a misspelled key the request would get the wrong answer.
Result<void> check_query(const Route& route, const Request& request) {
  for (const auto& [key, value] : request.query) {
    if (std::ranges::find(route.query, key) != route.query.end()) continue;
    std::string known;
    for (const auto taken : route.query) known += (known.empty() ? "" : ", ") + std::string(taken);
    return fail(Errc::kInvalidArgument, "unknown query key '" + printable(key, 40) + "'; " +
                                            shown_path(request.path) + " takes " +
                                            (known.empty() ? "none" : known));
  }
  return {};
}

Result<void> check(const Route& route, const Request& request) {
  HOSTLER_TRY(check_role(route, request));
  return check_query(route, request);
}

/// One for each method. Where a path is spelled out, it has no id: "/v1/leases/dry-run".
std::vector<const Route*> routes_of(const std::vector<std::string>& path) {
  const auto ids = [](const Route* route) { return std::ranges::count(route->path, "*"); };
  std::vector<const Route*> out;
  for (const Route& route : routes())
    if (matches(route, path)) out.push_back(&route);
  if (out.empty()) return out;
  const auto fewest = ids(*std::ranges::min_element(out, {}, ids));
  std::erase_if(out, [&](const Route* route) { return ids(route) > fewest; });
  return out;
}

/// Null if there is no such path, or it does not take the method.
const Route* find_route(const Request& request) {
  const auto there = routes_of(request.path);
  const auto found = std::ranges::find(there, request.method, &Route::method);
  return found == there.end() ? nullptr : *found;
}

Response no_route_response(const Request& request) {
  std::string allowed;
  for (const Route* route : routes_of(request.path))
    allowed += (allowed.empty() ? "" : ", ") + std::string(route->method);
  if (allowed.empty())
    return error_response({Errc::kNotFound, "nothing is at " + shown_path(request.path)});
  Response response =
      error_response({Errc::kInvalidArgument, shown_path(request.path) + " takes " + allowed +
                                                  ", not " + printable(request.method, 20)});
  response.status = 405;
  response.headers["Allow"] = allowed;
  return response;
}

/// The only request whose body is not kept in memory.
bool is_upload(std::string_view method, const std::vector<std::string>& path) {
  return method == "PUT" && path.size() == 3 && path[0] == "v1" && path[1] == "blobs";
}

/// Wraps a feed so that it is counted until its end.
std::shared_ptr<Feed> counted(const std::shared_ptr<const Watch>& watch,
                              std::shared_ptr<Feed> feed) {
  watch->on_streams(1);
  Feed* const raw = feed.get();
  return {raw, [watch, feed = std::move(feed)](Feed*) mutable {
            feed.reset();
            watch->on_streams(-1);
          }};
}

/// Wraps `respond` so that the answer is reported to the watch. `method` is a constant of the
/// program.
Respond watched(const std::shared_ptr<const Watch>& watch, std::string_view method,
                std::string route, Respond respond) {
  if (!watch->on_answer) return respond;
  const auto began = std::chrono::steady_clock::now();
  return [watch, method, route = std::move(route), respond = std::move(respond),
          began](Response response) {
    watch->on_answer({method, route, response.status, std::chrono::steady_clock::now() - began});
    if (response.feed && watch->on_streams)
      response.feed = counted(watch, std::move(response.feed));
    respond(std::move(response));
  };
}

class ServiceSite final : public Site {
 public:
  ServiceSite(Service& service, Limits limits, Watch watch)
      : context_{&service, std::move(limits), std::make_shared<PushQueue>()},
        watch_(std::make_shared<const Watch>(std::move(watch))) {}

  Result<std::uint64_t> admit(const Request& request) override {
    const Route* route = find_route(request);
    // handle() answers that there is no such route.
    if (route == nullptr) return kSmallBody;
    if (auto allowed = check(*route, request); !allowed) {
      if (watch_->on_answer)
        watch_->on_answer(
            {route->method, pattern(*route), http_status(allowed.error().code), Duration{}});
      return tl::unexpected(std::move(allowed.error()));
    }
    if (is_upload(request.method, request.path)) return context_.limits.blob_bytes_max;
    if (request.method == "GET") return 0;
    if (route->run == post_config_diff) return kConfigBodyMax;
    if (route->run == put_scaling_info) return model::kPushBytesMax;
    const bool has_jobs = route->run == post_jobs || route->run == post_dry_run;
    return has_jobs ? context_.limits.submit_bytes_max : kSmallBody;
  }

  MemoryBounds bodies_max() const override {
    // The largest submit of one source fits with the jobs that it is parsed into, and that of
    // another source beside it; so does the largest push.
    constexpr std::uint64_t kJobBytes = 1024;
    const std::uint64_t submit =
        2 * std::max<std::uint64_t>(context_.limits.submit_bytes_max, kSmallBody) +
        kJobBytes * context_.limits.submit_jobs_max;
    const std::uint64_t largest =
        std::max<std::uint64_t>(submit, (1 + kPushInMemory) * model::kPushBytesMax);
    return {2 * largest, largest};
  }

  Result<std::unique_ptr<BlobWriter>> upload(const Request& request) override {
    if (!is_upload(request.method, request.path)) return std::unique_ptr<BlobWriter>();
    return context_.service->put_blob(request.who, request.path[2]);
  }

  void handle(Request request, Respond respond) override {
    if (const Route* route = find_route(request)) {
      respond = watched(watch_, route->method, pattern(*route), std::move(respond));
      return route->run(context_, std::move(request), respond);
    }
    respond = watched(watch_, "any", "none", std::move(respond));
    respond(no_route_response(request));
  }

 private:
  const Context context_;
  const std::shared_ptr<const Watch> watch_;  ///< Streams may outlive the site.
};

}  // namespace

std::shared_ptr<Site> make_site(Service& service, Limits limits, Watch watch) {
  return std::make_shared<ServiceSite>(service, std::move(limits), std::move(watch));
}

unsigned http_status(Errc code) {
  switch (code) {
    case Errc::kInvalidArgument:
      return 400;
    case Errc::kForbidden:
      return 403;
    case Errc::kNotFound:
      return 404;
    case Errc::kConflict:
      return 409;
    case Errc::kTooLarge:
      return 413;
    case Errc::kOverQuota:
      return 429;
    case Errc::kUnavailable:
    case Errc::kOutcomeUnknown:
      return 503;
    case Errc::kMisbehaving:
    case Errc::kInternal:
      return 500;
  }
  return 500;
}

Response error_response(const Error& error) {
  Response response;
  response.status = http_status(error.code);
  if (error.retry_after_s > 0)
    response.headers["Retry-After"] = std::to_string(error.retry_after_s);
  json::Writer w(response.body);
  w.begin_object().member("code", to_string(error.code)).member("message", error.message);
  if (!error.path.empty()) w.member("path", error.path);
  w.end_object();
  response.body += '\n';
  return response;
}

}  // namespace hostler::api
