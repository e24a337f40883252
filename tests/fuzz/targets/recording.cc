#include <string>

#include "core/base/text.h"
#include "core/tap/reader.h"
#include "tests/fuzz/target.h"

/// A recording of the calls of a driver, which comes with a report of a bug.
namespace hostler::fuzz {
namespace {

void check_call(const tap::Call& call, std::uint64_t& last, Duration& last_end) {
  promise(call.number > last, "numbers rise");
  promise(call.end() >= last_end, "calls are in the order of their ends");
  promise(call.request().is(json::Kind::kObject), "a call has its request");
  promise(call.records().is(json::Kind::kArray), "a call has its records");
  promise(call.ok() || call.error().is(json::Kind::kObject), "a failure has its error");
  (void)tap::money_of(call.request(), "price_per_hour");
  last = call.number;
  last_end = call.end();
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  using namespace hostler::fuzz;
  std::uint64_t last = 0, calls = 0;
  Duration last_end{};
  const auto read =
      tap::parse_recording(as_text(data, size), "west", [&](const tap::Line& line) -> Result<void> {
        if (std::holds_alternative<tap::Session>(line)) last = 0, last_end = {};
        if (const auto* call = std::get_if<tap::Call>(&line)) {
          check_call(*call, last, last_end);
          ++calls;
        }
        return {};
      });
  if (read) {
    promise(read->calls == calls, "every call is counted");
    return 0;
  }
  const std::string& message = read.error().message;
  promise(message.starts_with("west, line "), "an error names file and line", message);
  promise(is_utf8(message) && message.find('\n') == std::string::npos,
          "an error is one printable line", message);
  return 0;
}
