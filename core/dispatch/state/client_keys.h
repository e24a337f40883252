#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/model/ids.h"

namespace hostler::dispatch {

/// Which job a submitter's client key names, for as long as the store keeps that job.
class ClientKeys {
 public:
  struct Named {
    std::string digest;  ///< Of the job's body.
    model::WorkId work;
  };

  ClientKeys() = default;
  ClientKeys(ClientKeys&&) = default;
  ClientKeys& operator=(ClientKeys&&) = default;

  /// nullptr if the key names none; until the next call that changes anything.
  [[nodiscard]] const Named* find(const std::string& principal, const std::string& key) const;
  /// Of a job that is newer than all before. A key that names one already goes on naming it.
  void add(std::string principal, std::string key, Named named);
  /// Jobs that are gone from the store. O(log keys) each.
  void forget(const std::vector<model::WorkId>& jobs);
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  using Keys = std::map<std::pair<std::string, std::string>, Named>;

  Keys keys_;
  /// Rising; nullptr for a forgotten one, until all older ones are forgotten too.
  std::deque<std::pair<model::WorkId, const Keys::value_type*>> by_job_;
};

}  // namespace hostler::dispatch
