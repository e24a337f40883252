#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sdk/check/host/session.h"
#include "sdk/check/proxy/fault_proxy.h"

namespace hostler::check {

/// Why a test that needs an endpoint is skipped.
inline constexpr const char* kNoEndpoint =
    "no endpoint: name the key of the config in \"endpoints\" of driver-check.json";

/// An open set whose cloud is behind proxies, one for each endpoint.
class BrokenCloud {
 public:
  /// Nothing: the test is skipped, or has failed.
  static std::unique_ptr<BrokenCloud> open(Context& context);

  void arm(const Fault& fault);
  /// Answers each request in place of the cloud.
  void answer_all(const std::string& answer);
  void disarm() { arm({}); }
  /// Since the last arm(), in all proxies.
  [[nodiscard]] bool has_happened() const;
  [[nodiscard]] int exchanges() const;
  /// All endpoints are http://: the proxies can answer in place of the cloud.
  [[nodiscard]] bool is_http() const { return is_http_; }

  [[nodiscard]] Session& session() { return *session_; }

 private:
  explicit BrokenCloud(Context& context) : context_(context) {}
  bool start_proxies();
  bool open_set();

  Context& context_;
  bool is_http_ = true;
  std::string config_json_;                           // with the addresses of the proxies
  std::vector<std::unique_ptr<FaultProxy>> proxies_;  // outlive the session
  std::unique_ptr<Session> session_;
};

/// A test that begins with such a set.
template <void (*test)(Context&, BrokenCloud&)>
void behind_proxies(Context& c) {
  if (const auto cloud = BrokenCloud::open(c)) test(c, *cloud);
}

/// A list while something happens to it: it is complete, so that the machine `id` is in it, or an
/// error. False: it has not happened, as the list needs fewer exchanges.
bool expect_complete(Context& c, BrokenCloud& broken, const std::string& id,
                     const std::string& what);

/// What no cloud says.
inline constexpr const char* kNonsense = "<html>Welcome to the hotel's network</html>\n";
/// An answer of HTTP. `head`: "200 OK", also with further lines.
std::string http_answer(const std::string& head, const std::string& body);

}  // namespace hostler::check
