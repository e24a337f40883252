#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/model/metric.h"
#include "core/sources/http_messages.h"
#include "core/sources/number.h"
#include "core/sources/reading.h"

namespace hostler::sources {

/// One reading of kPrometheus or kHttp: what is asked, and what the answers mean. Pure.
class Inquiry {
 public:
  /// `now`: the time of the samples, where `at` is not set and their source does not say another.
  Inquiry(model::MetricSource source, std::optional<Wall> at, Wall now);

  [[nodiscard]] const model::MetricSource& source() const { return source_; }
  /// The request that is to be sent now.
  [[nodiscard]] HttpRequest request() const;
  /// Takes the answer to request(). nullopt: there is another request() to be sent. Errors of a
  /// source with a token quote nothing of the answer.
  Result<std::optional<Samples>> take(const HttpAnswer& answer);

 private:
  [[nodiscard]] Result<Samples> read_body(const HttpAnswer& answer) const;
  Result<std::optional<Samples>> take_values(const HttpAnswer& answer);
  Result<Samples> take_times(const HttpAnswer& answer);
  [[nodiscard]] Quotes quotes() const {
    return source_.token_file.empty() ? Quotes::kYes : Quotes::kNo;
  }

  const model::MetricSource source_;
  const std::string asked_time_;  ///< Of the first query; empty: the server's time.
  const Wall base_;               ///< The time of the query, by the clock of this machine.
  std::string time_;              ///< The same by the clock of the server, once it has said it.
  Samples samples_;               ///< Of the first query.
};

}  // namespace hostler::sources
