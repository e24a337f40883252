#include "core/sources/prometheus.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "core/base/text.h"
#include "core/json/document.h"

namespace hostler::sources {
namespace {

constexpr std::size_t kUrlMax = 4000;  // what all servers and proxies take
constexpr std::uint32_t kValuesMax = 400'000;
constexpr std::size_t kErrorTextMax = 200;
constexpr std::size_t kTimeMax = 32;  // It is sent back with the next question.

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), "%%%02X",
                  static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += plain ? std::string(1, c) : std::string(hex.data());
  }
  return out;
}

Result<json::Document> parse_document(const HttpAnswer& answer) {
  json::ParseOptions limits;
  limits.bytes_max = answer.body.size();
  limits.values_max = kValuesMax;
  return json::Document::parse(answer.body, limits);
}

/// Why the server refuses the query. Without quotes one of the types that Prometheus has: a server
/// that is none can write anything there.
std::string refusal_of(json::Value answer, Quotes quotes) {
  if (quotes == Quotes::kYes)
    return printable(answer.at("error").text_or("no reason"), kErrorTextMax);
  const std::string_view type = answer.at("errorType").text_or("");
  for (const char* known : {"timeout", "canceled", "execution", "bad_data", "internal",
                            "unavailable", "not_found", "not_acceptable"})
    if (type == known) return known;
  return "no reason";
}

/// Of the whole answer, whatever its status.
Result<json::Value> data_of(const HttpAnswer& answer, const Result<json::Document>& document,
                            Quotes quotes) {
  const bool is_object = document && document->root().is(json::Kind::kObject);
  if (is_object && document->root().at("status").text_or("") == "error")
    return fail(Errc::kUnavailable,
                "Prometheus refuses the query: " + refusal_of(document->root(), quotes));
  if (answer.status != 200)
    return fail(Errc::kUnavailable, "the answer has status " + std::to_string(answer.status));
  if (!document)
    return fail(Errc::kMisbehaving,
                "the answer is not Prometheus': " +
                    (quotes == Quotes::kYes ? printable(document.error().message, kErrorTextMax)
                                            : "it is not JSON"));
  if (!is_object || document->root().at("status").text_or("") != "success")
    return fail(Errc::kMisbehaving,
                "the answer is not Prometheus': its status is neither \"success\" nor \"error\"");
  return document->root().at("data");
}

/// `pair`: the time and the value of one sample, as [1435781451.781, "1"].
Result<double> value_of(json::Value pair, std::string& time, Quotes quotes) {
  if (pair.is(json::Kind::kArray) && pair.size() == 2) {
    const json::Value when = *pair.children().begin();
    const json::Value what = *++pair.children().begin();
    const auto number = what.is(json::Kind::kString) ? parse_number(what.text()) : std::nullopt;
    if (when.is(json::Kind::kNumber) && when.text().size() <= kTimeMax && number) {
      time = when.text();
      return *number;
    }
  }
  const std::string found = quotes == Quotes::kYes ? printable(pair.found(), 80) : "another thing";
  return fail(Errc::kMisbehaving,
              "a sample has " + found + " as its value, allowed: [TIME, \"NUMBER\"]");
}

Result<std::string> key_of(json::Value sample, const std::string& by) {
  if (by.empty()) return "";
  const json::Value labels = sample.at("metric");
  const std::string key(labels.is(json::Kind::kObject) ? labels.at(by).text_or("") : "");
  if (key.empty())
    return fail(Errc::kUnavailable, "a sample has no label " + by +
                                        "; write a query that keeps it, as in sum by (" + by +
                                        ") (...)");
  if (key.size() > model::kMetricKeyMax)
    return fail(Errc::kTooLarge, "a value of the label " + by + " has more than " +
                                     std::to_string(model::kMetricKeyMax) + " bytes");
  return key;
}

Result<InstantResult> read_vector(json::Value list, const std::string& by, Quotes quotes) {
  if (!list.is(json::Kind::kArray))
    return fail(Errc::kMisbehaving, "the answer is not Prometheus': it has no list of samples");
  if (list.size() == 0)
    return fail(Errc::kUnavailable,
                "the query has no samples: Prometheus knows no such series now");
  if (list.size() > kSamplesMax)
    return fail(Errc::kTooLarge, "the query has " + std::to_string(list.size()) +
                                     " samples, allowed: " + std::to_string(kSamplesMax));
  InstantResult result;
  result.elements.reserve(list.size());
  for (const json::Value sample : list.children()) {
    if (!sample.is(json::Kind::kObject))
      return fail(Errc::kMisbehaving, "the answer is not Prometheus': a sample is no object");
    std::string key = HOSTLER_TRY(key_of(sample, by));
    const double value = HOSTLER_TRY(value_of(sample.at("value"), result.time, quotes));
    result.elements.push_back({std::move(key), value});
  }
  return result;
}

double picked(double a, double b, model::Pick pick) {
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (pick == model::Pick::kMax) return std::max(a, b);
  if (pick == model::Pick::kMin) return std::min(a, b);
  return a + b;
}

}  // namespace

HttpRequest instant_query(const std::string& address, const std::string& query,
                          const std::string& time) {
  const std::string base = address.substr(0, address.find_last_not_of('/') + 1) + "/api/v1/query";
  const std::string form =
      "query=" + encoded(query) + (time.empty() ? "" : "&time=" + encoded(time));
  if (base.size() + form.size() > kUrlMax) return {base, form};
  return {base + "?" + form, ""};
}

Result<InstantResult> parse_instant(const HttpAnswer& answer, const std::string& by,
                                    Quotes quotes) {
  const auto document = parse_document(answer);
  const json::Value data = HOSTLER_TRY(data_of(answer, document, quotes));
  const std::string type(data.is(json::Kind::kObject) ? data.at("resultType").text_or("") : "");
  if (type == "vector") return read_vector(data.at("result"), by, quotes);
  const bool is_known = type == "matrix" || type == "string";
  if (type != "scalar")
    return fail(Errc::kUnavailable, "the result of the query is a " +
                                        (is_known ? type : "thing unknown") +
                                        ", allowed: a vector or a scalar");
  if (!by.empty())
    return fail(Errc::kUnavailable,
                "the result of the query is a scalar, which has no label " + by);
  InstantResult result;
  const double value = HOSTLER_TRY(value_of(data.at("result"), result.time, quotes));
  result.elements.push_back({"", value});
  return result;
}

Result<std::vector<VectorElement>> pick_elements(std::vector<VectorElement> elements,
                                                 model::Pick pick, const std::string& by,
                                                 Quotes quotes) {
  std::map<std::string, std::pair<double, std::size_t>> groups;  // the number, and of how many
  for (const VectorElement& one : elements) {
    const auto [group, is_new] = groups.try_emplace(one.key, one.value, 1);
    if (is_new) continue;
    if (pick == model::Pick::kNone)
      return fail(Errc::kUnavailable,
                  by.empty() ? "the query has " + std::to_string(elements.size()) +
                                   " samples; set `pick` or `by`, or write a query with one"
                             : "two samples have the " +
                                   (quotes == Quotes::kYes ? "value " + printable(one.key, 80)
                                                           : std::string("same value")) +
                                   " of the label " + by +
                                   "; write a query with one sample for each, as in sum by (" + by +
                                   ") (...)");
    group->second.first = picked(group->second.first, one.value, pick);
    ++group->second.second;
  }
  elements.clear();
  for (const auto& [key, group] : groups) {
    const bool is_mean = pick == model::Pick::kAvg;
    elements.push_back(
        {key, is_mean ? group.first / static_cast<double>(group.second) : group.first});
  }
  return elements;
}

}  // namespace hostler::sources
