#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/model/cloud_records.h"
#include "core/plugin_host/driver_set.h"
#include "core/tap/secrets.h"

/// What drivers answer as JSON objects without secrets, one for each record. What is not known is
/// left out. Pure.
namespace hostler::tap {

std::string record_of(const model::SetInfo& info, const Secrets& secrets);
std::string record_of(const model::ListedInstance& instance, const Secrets& secrets);
std::string record_of(const model::ZonePrice& price, const Secrets& secrets);
std::string record_of(const std::string& quota_group, const Secrets& secrets);
std::string record_of(const model::CloudOffering& offering, const Secrets& secrets);
std::string record_of(const model::Interruption& notice, const Secrets& secrets);
/// How much it was, not what: hosts print keys there.
std::string record_of(const model::ConsoleText& console, const Secrets& secrets);
std::string record_of(const model::Leftover& leftover, const Secrets& secrets);
std::string record_of(const model::Image& image, const Secrets& secrets);

/// The member `"error": {...}` of a call.
std::string error_to_json(const model::CloudError& error, const Secrets& secrets);

/// The records of one call, as many as fit into a line.
class Records {
 public:
  /// False: there is no room for it; it is counted.
  bool add(const std::string& record);
  /// An instance that the list before had, and this one has not.
  bool add_gone(const std::string& id);
  void count_same() { ++same_; }

  /// `"records":[...]` and what there is to say of them: "left_out", "same", "gone".
  [[nodiscard]] std::string members() const;

 private:
  std::string records_, gone_;
  std::uint64_t left_out_ = 0, same_ = 0;
};

template <class T>
void add_records(const T& one, const Secrets& secrets, Records& out) {
  out.add(record_of(one, secrets));
}
template <class T>
void add_records(const std::vector<T>& all, const Secrets& secrets, Records& out) {
  for (const T& one : all) out.add(record_of(one, secrets));
}
inline void add_records(const plugin_host::DriverSet::Nothing&, const Secrets&, Records&) {}

/// Of lists of a whole set only what has changed since the list before is recorded: the same 1,000
/// instances every 10 seconds would fill any file. Threads: any.
class ListChanges {
 public:
  void add_records(const std::vector<model::ListedInstance>& all, const Secrets& secrets,
                   Records& out);
  /// The line was lost: the next list is recorded as a whole.
  void forget();

 private:
  Mutex mutex_;
  std::map<std::string, std::uint64_t> seen_ HOSTLER_GUARDED_BY(mutex_);  ///< By id: a hash.
};

}  // namespace hostler::tap
