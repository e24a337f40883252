#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "transport.h"

namespace hostler::lxd::test {

/// What a Script was asked, and where it left its answers.
struct Play {
  /// What becomes of one request; it may throw NoAnswer.
  using Step = std::function<HttpAnswer(const HttpRequest&)>;

  std::deque<Step> steps;
  std::vector<std::string> asked;  ///< "GET /1.0?project=p"
  std::vector<std::string> bodies;
  std::vector<std::int64_t> timeouts_ms;

  Play& answer(long status, std::string body) {
    steps.emplace_back([=](const HttpRequest&) { return HttpAnswer{status, body}; });
    return *this;
  }
  /// An answer of LXD with this metadata.
  Play& sync(const std::string& metadata) {
    return answer(200, R"({"type":"sync","status_code":200,"metadata":)" + metadata + "}");
  }
  Play& async() {
    return answer(202, R"({"type":"async","operation":"/1.0/operations/7","metadata":{}})");
  }
  /// How an operation ended; empty: well.
  Play& ended(const std::string& problem = "") {
    return sync(problem.empty() ? R"({"status_code":200,"err":""})"
                                : R"({"status_code":400,"err":")" + problem + "\"}");
  }
  Play& refuse(int status, const std::string& text) {
    return answer(status, R"({"type":"error","error":")" + text + R"(","error_code":)" +
                              std::to_string(status) + "}");
  }
  Play& missing() { return refuse(404, "Instance not found"); }
  Play& no_answer(bool may_have_arrived) {
    steps.emplace_back([=](const HttpRequest&) -> HttpAnswer {
      throw NoAnswer(HOSTLER_E_TRANSIENT, "cut", may_have_arrived);
    });
    return *this;
  }
};

/// A server that answers as written beforehand, in that order.
class Script : public Transport {
 public:
  explicit Script(Play& play) : play_(play) {}

  HttpAnswer send(const HttpRequest& request, hostler_op*) override {
    play_.asked.push_back(request.method + " " + request.path);
    play_.bodies.push_back(request.body);
    play_.timeouts_ms.push_back(request.timeout_ms);
    if (play_.steps.empty()) throw NoAnswer(HOSTLER_E_INTERNAL, "the script has ended", true);
    const auto step = std::move(play_.steps.front());
    play_.steps.pop_front();
    return step(request);
  }

 private:
  Play& play_;
};

}  // namespace hostler::lxd::test
