#pragma once

#include <optional>
#include <string>

namespace hostler::check {

/// "http://127.0.0.1:8080/path" in its parts. "127.0.0.1:8080" has neither scheme nor path.
struct Url {
  std::string scheme, host, port, path;
};

/// Nothing: the text is no address.
std::optional<Url> read_url(const std::string& text);
std::string to_text(const Url& url);

}  // namespace hostler::check
