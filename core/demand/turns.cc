#include "core/demand/turns.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>
#include <tuple>
#include <utility>

namespace hostler::demand {
namespace {

constexpr std::size_t kTurnsSeen = 32;  ///< Items of a class that the planner sees one by one.
/// So many principals take turns in all classes together; of the others, each class sees the first
/// items only. Else the time would grow with principals times classes.
constexpr std::size_t kTakersMax = 64;

/// The view has items of this front.
bool is_seen(const LaneCaps& caps, const ClassView& view, const Queue::Front& front) {
  const LaneCap* cap = caps.find(front.principal, view.id);
  if (cap == nullptr) return !view.price;
  return cap->seen > 0 && cap->left.has_value() == view.price.has_value();
}

/// Hands out the turns of one priority.
class Turns {
 public:
  Turns(const Queue& queue, double turn_cost, const LaneCaps& caps)
      : queue_(queue), turn_cost_(turn_cost), caps_(caps) {}

  /// To the views of this priority, in the order of their classes, priced ones second.
  void hand_out(std::int32_t priority, std::vector<ClassView>& views) {
    views_ = &views;
    open_ = views.size();
    takers_.clear();
    waiting_ = {};
    auto coming = queue_.principals().begin();
    const auto end = queue_.principals().end();
    while (open_ > 0) {
      for (; coming != end && takers_.size() < kTakersMax &&
             (waiting_.empty() || coming->first <= waiting_.top().turn.use);
           ++coming)
        enter(coming->second, priority);
      if (waiting_.empty() || (coming != end && coming->first < waiting_.top().turn.use)) break;
      const Next next = waiting_.top();
      waiting_.pop();
      take_turn(next);
    }
    if (open_ == 0 || coming == end) return;
    for (ClassView& view : views)
      if (!is_full(view)) add_first_items(view, *coming);
  }

 private:
  struct Cursor {
    std::uint64_t arrival = 0;  ///< Of the item that is next in the lane.
    const Queue::Lane* lane = nullptr;
    std::uint32_t view = 0;             ///< Index of its class.
    std::uint32_t most = 0, taken = 0;  ///< Items of the lane that take turns, and have.
    friend bool operator>(const Cursor& a, const Cursor& b) { return a.arrival > b.arrival; }
  };
  struct Taker {
    PrincipalId principal = 0;
    double use = 0;
    std::int32_t priority = 0;
    LaneOrder::const_iterator fresh;  ///< From here on no lane has given an item.
    std::priority_queue<Cursor, std::vector<Cursor>, std::greater<>> lanes;
  };
  struct Next {
    Turn turn;
    std::uint32_t taker = 0;
    friend bool operator>(const Next& a, const Next& b) { return b.turn < a.turn; }
  };

  [[nodiscard]] std::uint32_t index_of(ClassId cls, PrincipalId principal) const {
    auto at = std::ranges::lower_bound(*views_, cls, {}, &ClassView::id);
    if (at->price.has_value() != caps_.is_priced(principal, cls)) ++at;
    return static_cast<std::uint32_t>(at - views_->begin());
  }
  [[nodiscard]] double cost(const ClassView& view) const {
    return static_cast<double>(queue_.at(view.id).price_per_hour.value) * turn_cost_;
  }
  [[nodiscard]] static bool is_full(const ClassView& view) {
    return view.heads.size() >= std::min<std::uint64_t>(kTurnsSeen, view.count);
  }

  void enter(PrincipalId principal, std::int32_t priority) {
    const auto& lanes = queue_.lanes(principal);
    const auto first = lanes.from(priority);
    if (first == lanes.end() || first->first.priority != priority) return;
    takers_.push_back({.principal = principal,
                       .use = queue_.key(principal),
                       .priority = priority,
                       .fresh = first,
                       .lanes = {}});
    wait(static_cast<std::uint32_t>(takers_.size() - 1));
  }

  /// A lane that has given nothing yet goes among the others when its first item is next. Passes
  /// over lanes of classes that have all their turns.
  void take_fresh_lanes(Taker& taker) {
    const auto end = queue_.lanes(taker.principal).end();
    while (taker.fresh != end && taker.fresh->first.priority == taker.priority &&
           (taker.lanes.empty() || taker.fresh->first.arrival < taker.lanes.top().arrival)) {
      const LanePlace& fresh = (taker.fresh++)->first;
      if (const auto* cap = caps_.find(taker.principal, fresh.cls); cap && cap->seen == 0) continue;
      const auto view = index_of(fresh.cls, taker.principal);
      if (is_full((*views_)[view])) continue;
      const Queue::Lane& lane = queue_.lane(taker.principal, fresh.cls);
      taker.lanes.push({fresh.arrival, &lane, view, most_of(taker.principal, fresh.cls, lane)});
    }
  }

  void wait(std::uint32_t index) {
    Taker& taker = takers_[index];
    take_fresh_lanes(taker);
    if (!taker.lanes.empty())
      waiting_.push({{.use = taker.use, .arrival = taker.lanes.top().arrival}, index});
  }

  void take_turn(const Next& next) {
    Taker& taker = takers_[next.taker];
    Cursor cursor = taker.lanes.top();
    taker.lanes.pop();
    ClassView& into = (*views_)[cursor.view];
    if (is_full(into)) {
      // The planner sees no more of this lane. Its items take their turns before the next lane.
      take_fresh_lanes(taker);
      if (!taker.lanes.empty()) {
        const std::size_t before = std::min<std::size_t>(
            cursor.most, cursor.lane->count_before(taker.lanes.top().arrival));
        if (before > cursor.taken)
          taker.use += cost(into) * static_cast<double>(before - cursor.taken);
      }
      return wait(next.taker);
    }
    into.heads.push_back(next.turn);
    if (into.heads.size() == 1) into.oldest = since(cursor);
    if (is_full(into)) --open_;
    taker.use += cost(into);
    if (advance(cursor)) taker.lanes.push(cursor);
    wait(next.taker);
  }

  /// The first items of principals from `from` on, who have used more than those who took turns.
  void add_first_items(ClassView& view, const std::pair<double, PrincipalId>& from) const {
    std::vector<std::pair<Turn, const Queue::Lane*>> first;
    for (const Queue::Front& front : queue_.at(view.id).fronts) {
      if (!is_seen(caps_, view, front)) continue;
      const double key = queue_.key(front.principal);
      if (view.heads.empty() || std::pair(key, front.principal) >= from)
        first.push_back({{.use = key, .arrival = front.arrival}, front.lane});
    }
    const auto more = std::min(first.size(), kTurnsSeen - view.heads.size());
    const auto end = first.begin() + static_cast<std::ptrdiff_t>(more);
    std::partial_sort(first.begin(), end, first.end(),
                      [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto at = first.begin(); at != end; ++at) {
      if (view.heads.empty()) view.oldest = at->second->first().since;
      view.heads.push_back(at->first);
    }
    std::sort(view.heads.begin(), view.heads.end());  // Of equal keys the takers came first.
  }

  [[nodiscard]] std::uint32_t most_of(PrincipalId principal, ClassId cls,
                                      const Queue::Lane& lane) const {
    const std::uint64_t most = caps_.seen(principal, cls, lane);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, UINT32_MAX));
  }
  [[nodiscard]] static Mono since(const Cursor& cursor) { return cursor.lane->first().since; }

  /// At most 32 times for a lane.
  static bool advance(Cursor& cursor) {
    ++cursor.taken;
    if (cursor.taken >= cursor.most) return false;
    cursor.arrival = cursor.lane->arrival_after(cursor.arrival);
    return true;
  }

  const Queue& queue_;
  const double turn_cost_;
  const LaneCaps& caps_;
  std::vector<ClassView>* views_ = nullptr;
  std::size_t open_ = 0;  ///< Classes that may have more turns.
  std::vector<Taker> takers_;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> waiting_;
};

/// The turns of the only principal that waits: by arrival.
void take_in_order(const Queue::Lane& lane, double key, ClassView& view) {
  const auto most = std::min<std::uint64_t>(kTurnsSeen, view.count);
  view.oldest = lane.first().since;
  lane.each([&](const Queue::Item& item) {
    view.heads.push_back({.use = key, .arrival = item.arrival});
    return view.heads.size() < most;
  });
}

/// Adds the views of a class without turns.
void add_views(ClassId id, const Queue::Class& of, const LaneCaps& caps,
               std::vector<ClassView>& out) {
  const auto add = [&](std::uint64_t count) {
    if (count > 0) out.push_back({.id = id, .kind = of.kind, .shape = of.shape, .count = count});
  };
  const auto* capped = caps.of(id);
  if (capped == nullptr) return add(of.count);
  const auto& [beyond, priced, shares] = *capped;
  add(of.count - beyond - priced);
  add(priced);
  if (priced > 0) out.back().price.emplace(shares);
}

}  // namespace

std::vector<ClassView> views_by_turns(const Queue& queue, double turn_cost, const LaneCaps& caps) {
  std::vector<ClassView> out;
  out.reserve(queue.order().size());
  if (queue.principals().empty()) return out;
  Turns turns(queue, turn_cost, caps);
  std::vector<ClassView> level;
  level.reserve(queue.order().size());
  for (auto at = queue.order().begin(); at != queue.order().end();) {
    const std::int32_t priority = at->priority;
    level.clear();
    for (; at != queue.order().end() && at->priority == priority; ++at)
      add_views(at->cls, queue.at(at->cls), caps, level);
    if (level.empty()) continue;
    if (queue.principals().size() > 1) {
      turns.hand_out(priority, level);
      // Not of the item whose turn is next: others of less use would put off the class for ever.
      for (ClassView& view : level)
        for (const Queue::Front& front : queue.at(view.id).fronts)
          if (is_seen(caps, view, front))
            view.oldest = std::min(view.oldest, front.lane->first().since);
    } else {
      const auto& [key, only] = *queue.principals().begin();
      for (ClassView& view : level) take_in_order(queue.lane(only, view.id), key, view);
    }
    std::ranges::sort(level, [](const ClassView& a, const ClassView& b) {
      return std::tuple(a.heads.front(), a.id, a.price.has_value()) <
             std::tuple(b.heads.front(), b.id, b.price.has_value());
    });
    std::ranges::move(level, std::back_inserter(out));
  }
  return out;
}

}  // namespace hostler::demand
