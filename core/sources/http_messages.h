#pragma once

#include <string>

namespace hostler::sources {

struct HttpRequest {
  std::string url;
  std::string form;  ///< The body of a POST; empty: it is a GET.
};

struct HttpAnswer {
  long status = 0;
  std::string body;
};

}  // namespace hostler::sources
