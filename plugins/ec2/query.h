#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hostler::ec2 {

/// A request of the Query API. SECRET where it has user data.
class Query {
 public:
  explicit Query(std::string action);

  /// An empty value adds nothing: EC2 takes an empty parameter for a wrong one.
  Query& add(std::string key, std::string value);
  /// Also where the value is empty.
  Query& add_always(std::string key, std::string value);
  /// KEY.1, KEY.2, ...
  Query& add_list(const std::string& key, const std::vector<std::string>& values);
  /// Filter.N: one of the values, exactly. `*` and `?` in them are themselves.
  Query& add_filter(std::string_view name, const std::vector<std::string>& values);
  /// The same, with `*` for any text.
  Query& add_pattern(std::string_view name, const std::vector<std::string>& patterns);

  [[nodiscard]] const std::string& action() const { return action_; }
  /// The text of a form, with the version of the API.
  [[nodiscard]] std::string body(std::string_view version) const;

 private:
  Query& add_raw_filter(std::string_view name, const std::vector<std::string>& values);

  std::string action_;
  std::vector<std::pair<std::string, std::string>> fields_;
  int filters_ = 0;
};

/// body(some) for as many of the values at a time as a filter may have; once, if there are none.
template <class Body>
void for_each_filter(const std::vector<std::string>& values, const Body& body) {
  constexpr std::size_t kMax = 200;
  for (std::size_t at = 0; at == 0 || at < values.size(); at += kMax) {
    const auto end = std::min(values.size(), at + kMax);
    body(std::vector<std::string>(values.begin() + static_cast<std::ptrdiff_t>(at),
                                  values.begin() + static_cast<std::ptrdiff_t>(end)));
  }
}

}  // namespace hostler::ec2
