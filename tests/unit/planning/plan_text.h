#pragma once

#include <string>
#include <string_view>

#include "core/planning/answer.h"

namespace hostler::planning {

/// All that a plan decides, for comparisons.
inline std::string text_of_plan(const Question& question) {
  return write_answer({question.policy, question.snapshot, {}},
                      scheduler::make_plan(question.snapshot, question.policy));
}

inline std::string replaced(std::string text, std::string_view what, std::string_view with) {
  text.replace(text.find(what), what.size(), with);
  return text;
}

/// A snapshot that people may write: a pool, a host and two kinds of work.
inline const std::string kSmall = R"({
  "version": 1,
  "types": [{"name": "small", "price": 0.05}],
  "sets": [{"name": "west"}],
  "pools": [{"name": "default", "max": 3, "idle_timeout": "1m", "readiness": "agent",
             "leases": {"max_term": "1h"}}],
  "offerings": [{"id": "small-a", "pool": "default", "set": "west", "type": "small", "zone": "a",
                 "vcpus": 2, "ram": "4GiB", "price_per_hour": 0.05}],
  "work": [{"id": "c-1", "count": 3, "needs": {"vcpus": 2, "ram": "1GiB"}, "waiting_for": "30s"},
           {"id": "c-2", "kind": "lease", "count": 1, "exclusive": true, "needs": {"vcpus": 8},
            "constraints": {"pools": ["default"]}}],
  "hosts": [{"id": "h-1", "pool": "default", "offering": "small-a", "phase": "ready", "age": "1h",
             "idle_for": "5s"},
            {"id": "h-2", "pool": "default", "offering": "small-a", "phase": "coming", "age": "20s",
             "load": [{"work": "c-1", "count": 1}]}]
})";

}  // namespace hostler::planning
