#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/model/ids.h"

namespace hostler::dispatch {

/// Which work a submitter's client key names, for as long as the store keeps that work.
class ClientKeys {
 public:
  struct Named {
    std::string digest;  ///< Of the body of the work.
    model::WorkId work;
  };

  ClientKeys() = default;
  ClientKeys(ClientKeys&&) = default;
  ClientKeys& operator=(ClientKeys&&) = default;

  /// nullptr if the key names none; until the next call that changes anything.
  [[nodiscard]] const Named* find(const std::string& principal, const std::string& key) const;
  /// Of work that is newer than all before. A key that names one already goes on naming it.
  void add(std::string principal, std::string key, Named named);
  /// Work that is gone from the store. O(log keys) each.
  void forget(const std::vector<model::WorkId>& gone);
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  using Keys = std::map<std::pair<std::string, std::string>, Named>;

  Keys keys_;
  /// Rising; nullptr for a forgotten one, until all older ones are forgotten too.
  std::deque<std::pair<model::WorkId, const Keys::value_type*>> by_work_;
};

}  // namespace hostler::dispatch
