#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "http/transport.h"

namespace hostler::ec2::test {

using http::NoAnswer;

/// What a Script was asked, and where it left its answers. Calls of several threads may ask.
struct Play {
  /// What becomes of one request; it may throw NoAnswer.
  using Step = std::function<http::Answer(const http::Request&)>;

  std::mutex mutex;
  std::deque<Step> steps;  // under mutex, like the rest
  std::vector<http::Request> asked;
  /// What becomes of requests after the last step.
  Step afterwards = [](const http::Request&) -> http::Answer {
    throw NoAnswer(HOSTLER_E_INTERNAL, "the script has ended", true);
  };

  Play& then(Step step) {
    steps.push_back(std::move(step));
    return *this;
  }
  Play& answer(long status, std::string body, std::int64_t date = 0) {
    return then([=](const http::Request&) { return http::Answer{status, body, date}; });
  }
  /// An answer of EC2 to `action`, with what is in it.
  Play& ec2(const std::string& action, const std::string& inside) {
    return answer(200, "<" + action +
                           "Response xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">" + inside +
                           "</" + action + "Response>");
  }
  Play& sts(const std::string& action, const std::string& inside) {
    return answer(
        200, "<" + action + "Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><" +
                 action + "Result>" + inside + "</" + action + "Result></" + action + "Response>");
  }
  Play& refuse(long status, const std::string& code, const std::string& text = "words",
               std::int64_t date = 0) {
    return answer(status,
                  "<?xml version=\"1.0\"?><Response><Errors><Error><Code>" + code +
                      "</Code><Message>" + text +
                      "</Message></Error></Errors><RequestID>r-1</RequestID></Response>",
                  date);
  }
  Play& no_answer(bool may_have_arrived) {
    return then([=](const http::Request&) -> http::Answer {
      throw NoAnswer(HOSTLER_E_TRANSIENT, "cut", may_have_arrived);
    });
  }

  /// The actions asked for so far, such as "DescribeInstances".
  std::vector<std::string> actions() {
    const std::lock_guard lock(mutex);
    std::vector<std::string> out;
    for (const auto& one : asked) out.push_back(one.body.substr(7, one.body.find('&') - 7));
    return out;
  }
  std::string body(std::size_t n) {
    const std::lock_guard lock(mutex);
    return n < asked.size() ? asked[n].body : "not asked";
  }
};

/// A server that does what the Play says, in its order.
class Script : public http::Transport {
 public:
  explicit Script(Play& play) : play_(play) {}

  http::Answer send(const http::Request& request, hostler_op*) override {
    Play::Step step;
    {
      const std::lock_guard lock(play_.mutex);
      play_.asked.push_back(request);
      step = play_.afterwards;
      if (!play_.steps.empty()) {
        step = std::move(play_.steps.front());
        play_.steps.pop_front();
      }
    }
    return step(request);
  }

 private:
  Play& play_;
};

}  // namespace hostler::ec2::test
