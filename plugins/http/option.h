#pragma once

#include <curl/curl.h>

#include <new>
#include <string>

#include "http/transport.h"

namespace hostler::http {

/// Sets an option of a transfer. Throws if libcurl does not take it, as when there is no memory:
/// without the option another request would be sent, or to a server that nobody has checked.
template <class T>
void set_option(CURL* easy, CURLoption option, T value) {
  const CURLcode code = curl_easy_setopt(easy, option, value);
  if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLE_OK)
    throw driver::Error(HOSTLER_E_INTERNAL, "libcurl refuses option " + std::to_string(option) +
                                                " (" + curl_easy_strerror(code) +
                                                "): install a libcurl that has it");
}

}  // namespace hostler::http
