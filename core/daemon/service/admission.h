#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "core/api/service.h"

namespace hostler::daemon {

/// Counts a request from now until its answer. False: `max` of them are under way, and the answer
/// was that there are too many `what`.
template <class T>
[[nodiscard]] bool admit(const std::shared_ptr<std::atomic<int>>& under_way, int max,
                         const char* what, api::Answer<T>& answer) {
  if (under_way->fetch_add(1) >= max) {
    under_way->fetch_sub(1);
    answer(fail(Errc::kUnavailable, "too many " + std::string(what) + " at once; ask again later"));
    return false;
  }
  answer = [under_way, answer = std::move(answer)](Result<T> result) {
    under_way->fetch_sub(1);
    answer(std::move(result));
  };
  return true;
}

}  // namespace hostler::daemon
