#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace hostler::daemon {

/// Which driver of a set serves a call while one takes over from another. Drivers have numbers,
/// later ones higher numbers; the first has 0 and is in use. Pure: it holds no driver.
///
///   successor -> opened -> in use -> retired -> closable, once nobody uses it
///        \----------------------------^   dropped: it could not be opened, or a later one came
///
/// There is one successor at most, and one in use always. Threads: one at a time.
class Succession {
 public:
  using Number = std::uint64_t;

  /// A new driver, to be opened beside the one in use. The successor before it is dropped.
  Number add_successor();
  /// A new driver that is in use at once, whether it is open or not. The successor is dropped. Not
  /// while one that was opened waits to be used.
  Number replace();
  /// The successor has been opened, and is sure to be used. False: it was dropped before.
  bool opened(Number driver);
  /// Drops the successor with this number, if there is one.
  void drop(Number driver);
  /// Takes a driver that was opened into use. It and all before it never serve a new call then.
  void take_over(Number driver);

  [[nodiscard]] Number in_use() const { return in_use_; }
  [[nodiscard]] std::optional<Number> successor() const { return successor_; }
  /// The driver that calls go to when all that has been opened is in use.
  [[nodiscard]] Number newest_opened() const { return opened_.empty() ? in_use_ : opened_.back(); }

  /// Somebody uses a driver: a caller while it calls, a call until its answer is here.
  void begin_use(Number driver) { ++uses_[driver]; }
  void end_use(Number driver);
  /// Retired drivers that nobody uses any more. Each is returned once.
  [[nodiscard]] std::vector<Number> take_closable();
  /// Retired drivers that are still used.
  [[nodiscard]] std::size_t draining() const { return retired_.size(); }

 private:
  Number last_ = 0, in_use_ = 0;
  std::optional<Number> successor_;
  std::vector<Number> opened_;   ///< In order; not in use yet.
  std::vector<Number> retired_;  ///< Not closed yet.
  std::map<Number, std::size_t> uses_;
};

}  // namespace hostler::daemon
