#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "core/demand/queue.h"
#include "core/model/ids.h"

namespace hostler::dispatch {

/// The work of every kind that waits for hosts: its queue, and how much of it was cancelled. It
/// also gives all work its numbers. Jobs and Leases know what work is. Principals knows who
/// submitted it, and sets the order of principals.
class WaitingWork {
 public:
  /// The place of work in the queue. It keeps it while it waits no more, until it ends.
  struct Place {
    model::WorkId work;
    demand::ClassId cls = 0;
    demand::PrincipalId principal = 0;
    std::uint64_t arrival = 0;
  };

  void restore_last_arrival(std::uint64_t arrival) { last_arrival_ = arrival; }
  void restore_last_number(std::uint64_t work) { last_number_ = work; }
  /// The arrival of new work: it comes after all other.
  [[nodiscard]] std::uint64_t next_arrival() { return ++last_arrival_; }
  /// The number of new work, of whatever kind.
  [[nodiscard]] std::uint64_t next_number() { return ++last_number_; }
  /// The highest number that was given out or left out.
  [[nodiscard]] std::uint64_t last_number() const { return last_number_; }

  /// As Queue::intern() and Queue::release(), once for each work that has not ended.
  demand::ClassId intern(const model::WorkShape& shape, model::WorkKind kind) {
    return queue_.intern(shape, kind);
  }
  void release(demand::ClassId cls) { queue_.release(cls); }

  void enter(const Place& place, Mono since);
  /// Takes the next work of a class out of the queue, to get this part of a host.
  /// Queue::has_next() says if there is any.
  [[nodiscard]] model::WorkId pop(demand::ClassId cls, const model::Amounts& part) {
    return queue_.pop(cls, part).work;
  }
  /// False: it did not wait.
  bool leave(const Place& place);

  /// Work of the class that waits is about to be cancelled.
  void note_cancelled(demand::ClassId cls);
  /// How much work of each class was cancelled while it waited, since the last call.
  [[nodiscard]] std::map<demand::ClassId, std::uint64_t> take_cancelled() {
    return std::exchange(cancelled_, {});
  }

  /// The place of the principal in the order of turns.
  void set_key(demand::PrincipalId principal, double key) { queue_.set_key(principal, key); }
  /// What the principal may hold besides what it holds.
  void set_allowance(demand::PrincipalId principal, const demand::Allowance& allowance) {
    queue_.set_allowance(principal, allowance);
  }
  /// Work of the class holds a part of a host at this price.
  void set_price(demand::ClassId cls, model::Micros per_hour) { queue_.set_price(cls, per_hour); }

  /// The items of the class get their hosts all together.
  [[nodiscard]] bool is_gang(demand::ClassId cls) const {
    const auto* known = queue_.find(cls);
    return known != nullptr && known->shape.gang.count > 0;
  }
  [[nodiscard]] const demand::Queue& queue() const { return queue_; }

 private:
  demand::Queue queue_;
  std::map<demand::ClassId, std::uint64_t> cancelled_;
  std::uint64_t last_arrival_ = 0, last_number_ = 0;
};

}  // namespace hostler::dispatch
