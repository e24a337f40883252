#include <cstdio>

#include "core/model/event.h"

/// Prints the tables of core/model/event.h and reason.h as docs/api.md has them; check_docs.py
/// compares the two.
int main() {
  using namespace hostler::model;
  std::puts("| event | subject | severity | meaning |\n|---|---|---|---|");
  for (const EventInfo& one : all_events())
    std::printf("| `%s` | %s | %s | %s |\n", one.code, one.subject, to_string(one.severity),
                one.sentence);
  std::puts("\n| reason | severity | meaning |\n|---|---|---|");
  for (const ReasonInfo& one : all_reasons())
    std::printf("| `%s` | %s | %s |\n", one.code, to_string(one.severity), one.sentence);
  std::puts("\n| code | meaning |\n|---|---|");
  for (const WaitingInfo& one : all_waiting_codes())
    std::printf("| `%s` | %s |\n", one.code, one.sentence);
}
