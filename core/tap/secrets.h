#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hostler::tap {

/// The same text gives the same fingerprint, which does not tell the text: for keys and for
/// identifiers that nobody can guess.
std::string fingerprint(std::string_view text);

/// The secrets of one set, which are cut out of everything that its driver says. Threads: any,
/// after the constructor.
class Secrets {
 public:
  Secrets() = default;
  /// All values of the credentials, or their whole text if it is no JSON; and those values of the
  /// driver's config whose key looks like that of a secret.
  Secrets(std::string_view credentials_json, std::string_view config_json);

  /// For identifiers and names of the cloud: without the secrets, fit to print, cut.
  [[nodiscard]] std::string clean(std::string_view text) const;
  /// For sentences of the driver: also without words that look as if they were made at random, such
  /// as keys, tokens and what user data was encoded as.
  [[nodiscard]] std::string clean_sentence(std::string_view text) const;

 private:
  std::vector<std::string> secrets_;  ///< The longest first.
};

/// The JSON object with kHidden for every value that is no object and no list. "{}" if it is none.
std::string keys_only(std::string_view json_object);

}  // namespace hostler::tap
