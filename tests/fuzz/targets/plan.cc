#include <string>

#include "core/base/text.h"
#include "core/planning/answer.h"
#include "core/planning/read.h"
#include "core/planning/write.h"
#include "tests/fuzz/target.h"

/// A snapshot of which somebody wants the plan.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  using namespace hostler::fuzz;
  const auto read = planning::read_question(as_text(data, size));
  for (const Error& problem : read.problems) {
    promise(problem.path.empty() || problem.message.starts_with(problem.path),
            "a problem begins with its path", problem.message);
    promise(is_utf8(problem.message) && problem.message.find('\n') == std::string::npos,
            "a problem is one printable line", problem.message);
  }
  if (!read.problems.empty()) return 0;
  const std::string written = planning::write_question(read.question);
  const auto again = planning::read_question(written);
  promise(again.problems.empty(), "what is written can be read", written);
  promise(planning::write_question(again.question) == written, "it is the same", written);
  return 0;
}
