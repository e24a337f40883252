#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/model/metric.h"
#include "core/sources/schedule.h"

namespace hostler::sources {

struct Ended {
  ReadingId id = 0;
  model::MetricReading reading;
};

/// Readings over HTTP, all at the same time on one thread, by libcurl. A server gets at most 64
/// connections; others wait for these, within their timeout.
///
/// TLS is verified with the authorities of the system. No redirect is followed, and plain HTTP goes
/// through no proxy, so a token reaches its own server alone. An answer has 8 MiB at most.
class HttpReadings {
 public:
  HttpReadings();
  /// Ends what runs, without waiting for servers.
  ~HttpReadings();
  HttpReadings(const HttpReadings&) = delete;
  HttpReadings& operator=(const HttpReadings&) = delete;

  /// Begins a reading of kPrometheus or kHttp, which ends within the source's timeout. Blocks for
  /// the file of the token only.
  void start(ReadingId id, const model::MetricSource& source, std::optional<Wall> at);
  /// Ends a reading, if it runs: wait() will not return it. False: there is no such reading.
  bool cancel(ReadingId id);
  /// Returns readings that have ended. Waits until there is one, for wake(), and at most for
  /// `most`.
  std::vector<Ended> wait(Duration most);
  /// Any thread.
  void wake();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hostler::sources
