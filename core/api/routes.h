#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/http.h"
#include "core/model/job_limits.h"

/// `/v1` as routes over a Service. One table, so that the whole surface is seen in one place.
namespace hostler::api {

struct Limits {
  std::size_t submit_bytes_max = std::size_t{256} << 20;
  std::size_t submit_jobs_max = 100'000;
  std::uint64_t blob_bytes_max = std::uint64_t{64} << 30;
  model::JobLimits job;
};

/// One request that was understood and answered.
struct Answered {
  std::string_view method;
  std::string route;  ///< "/v1/jobs/*/output", or "none": what was asked for does not exist.
  unsigned status = 0;
  Duration took{};  ///< From the whole request to the answer, without their ways.
};
/// Called on any thread; must not wait.
struct Watch {
  std::function<void(const Answered&)> on_answer = {};
  std::function<void(int by)> on_streams = {};  ///< An event stream began (1) or ended (-1).
};

/// The site that a Server serves. The service must outlive it, and what watches it too.
std::shared_ptr<Site> make_site(Service& service, Limits limits, Watch watch = {});

}  // namespace hostler::api
