#pragma once

#include <curl/curl.h>

#include <string>

namespace hostler::http {

/// Lets `curl` accept the server whose certificate has this SHA-256 (64 hexadecimal digits), and no
/// other: names, dates and authorities do not count. `pin` must outlive `curl`.
void pin_certificate(CURL* curl, const std::string& pin);

}  // namespace hostler::http
