#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/http.h"
#include "core/model/job_limits.h"

/// Connects the routes of `/v1` with a Service.
namespace hostler::api {

struct Limits {
  std::size_t submit_bytes_max = std::size_t{256} << 20;
  std::size_t submit_jobs_max = 100'000;
  std::uint64_t blob_bytes_max = std::uint64_t{64} << 30;
  model::JobLimits job;
};

/// A request that was answered, for metrics.
struct Answered {
  std::string_view method;
  std::string route;  ///< "/v1/jobs/*/output", or "none" if there is no such route.
  unsigned status = 0;
  Duration took{};  ///< From the complete request to the answer, without the time on the network.
};
/// Callbacks for metrics, called on any thread. They must return at once.
struct Watch {
  std::function<void(const Answered&)> on_answer = {};
  std::function<void(int by)> on_streams = {};  ///< An event stream began (1) or ended (-1).
};

/// The site that a Server serves. The service and the watch's targets must outlive it.
std::shared_ptr<Site> make_site(Service& service, Limits limits, Watch watch = {});

}  // namespace hostler::api
