#include "query.h"

#include "http/text.h"

namespace hostler::ec2 {
namespace {

/// A space is `+`, as Amazon's own libraries write it.
std::string in_form(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = text.find(' ', at);
    out += http::encoded(text.substr(at, space - at));
    if (space == std::string_view::npos) break;
    out += '+';
    at = space + 1;
  }
  return out;
}

std::string escaped(std::string_view value, std::string_view special) {
  std::string out;
  for (const char c : value) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

Query::Query(std::string action) : action_(std::move(action)) {}

Query& Query::add(std::string key, std::string value) {
  return value.empty() ? *this : add_always(std::move(key), std::move(value));
}

Query& Query::add_always(std::string key, std::string value) {
  fields_.emplace_back(std::move(key), std::move(value));
  return *this;
}

Query& Query::add_list(const std::string& key, const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    add_always(key + "." + std::to_string(i + 1), values[i]);
  return *this;
}

Query& Query::add_filter(std::string_view name, const std::vector<std::string>& values) {
  std::vector<std::string> exact;
  exact.reserve(values.size());
  for (const std::string& one : values) exact.push_back(escaped(one, "*?\\"));
  return add_raw_filter(name, exact);
}

Query& Query::add_pattern(std::string_view name, const std::vector<std::string>& patterns) {
  std::vector<std::string> with_star;
  with_star.reserve(patterns.size());
  for (const std::string& one : patterns) with_star.push_back(escaped(one, "?\\"));
  return add_raw_filter(name, with_star);
}

Query& Query::add_raw_filter(std::string_view name, const std::vector<std::string>& values) {
  const std::string key = "Filter." + std::to_string(++filters_);
  add_always(key + ".Name", std::string(name));
  return add_list(key + ".Value", values);
}

std::string Query::body(std::string_view version) const {
  std::string out = "Action=" + in_form(action_) + "&Version=" + in_form(version);
  for (const auto& [key, value] : fields_) out += "&" + in_form(key) + "=" + in_form(value);
  return out;
}

}  // namespace hostler::ec2
