#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/model/metric.h"
#include "core/sources/http_messages.h"
#include "core/sources/number.h"

/// Instant queries of Prometheus' HTTP API. Pure.
namespace hostler::sources {

inline constexpr std::size_t kSamplesMax = 10'000;  ///< Of one answer.

/// Asks the server at `address` for `query`. `time`: seconds since 1970, as text; empty: the server
/// takes its own.
HttpRequest instant_query(const std::string& address, const std::string& query,
                          const std::string& time);

struct VectorElement {
  std::string key;  ///< Value of the label that was asked for; empty without one.
  double value = 0;
};

struct InstantResult {
  std::string time;  ///< Of the query, by the server: seconds since 1970, as it wrote them.
  std::vector<VectorElement> elements;  ///< At least one.
};

/// Reads an answer of the server. `by`: each sample must have this label; empty: labels do not
/// count. Errors are sentences for people. Without quotes an error of the server is its type alone,
/// as "bad_data".
Result<InstantResult> parse_instant(const HttpAnswer& answer, const std::string& by,
                                    Quotes quotes = Quotes::kYes);

/// One number of several, or one for each key. Several for the same key without a `pick` are an
/// error that says what to do. One that is NaN makes the number NaN.
Result<std::vector<VectorElement>> pick_elements(std::vector<VectorElement> elements,
                                                 model::Pick pick, const std::string& by,
                                                 Quotes quotes = Quotes::kYes);

}  // namespace hostler::sources
