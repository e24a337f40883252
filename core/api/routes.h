#pragma once

#include <functional>
#include <memory>
#include <string>
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

/// The site that a Server serves. The service must outlive it.
std::shared_ptr<Site> make_site(Service& service, Limits limits);

}  // namespace hostler::api
