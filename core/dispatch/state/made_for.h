#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/demand/class_view.h"

namespace hostler::dispatch {

/// What a host was created or switched on for, until it gets work. A restart forgets it.
class MadeFor {
 public:
  MadeFor() = default;
  /// `for_exchange`: it replaces a dearer host.
  MadeFor(std::vector<demand::Load> load, bool for_exchange)
      : load_(std::move(load)), for_exchange_(for_exchange) {}

  /// Takes off the work of these classes that was cancelled, and takes it out of `cancelled`.
  void cancel(std::map<demand::ClassId, std::uint64_t>& cancelled);
  /// One of this class was placed on the host.
  void placed(demand::ClassId cls);
  /// None of the class is expected any more.
  void drop(demand::ClassId cls);
  template <class Predicate>
  void drop_if(const Predicate& is_over) {
    std::erase_if(load_, is_over);
  }
  /// No work is expected on it any more: it has got work, or could have.
  void end() { load_.clear(); }
  /// Nobody knows when it comes up: other hosts may be made for its work.
  void release() {
    load_.clear();
    released_ = true;
  }
  void end_exchange() { for_exchange_ = false; }

  /// The work that is still to come. None that was cancelled.
  [[nodiscard]] const std::vector<demand::Load>& load() const { return load_; }
  /// All of it was cancelled.
  [[nodiscard]] bool is_cancelled() const { return cancelled_; }
  /// Other hosts may have been made for it.
  [[nodiscard]] bool is_released() const { return released_; }
  [[nodiscard]] bool is_for_exchange() const { return for_exchange_; }

 private:
  std::vector<demand::Load> load_;
  bool cancelled_ = false;
  bool released_ = false;
  bool for_exchange_ = false;
};

}  // namespace hostler::dispatch
