#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/mutex.h"
#include "core/model/records.h"
#include "core/store/connect.h"
#include "core/store/rows.h"
#include "core/store/work_query.h"

namespace hostler::store {

/// A part of a list. If there is more, ask again from the id or revision of the last item.
template <class T>
struct Page {
  std::vector<T> items;
  bool more = false;
};

struct InstanceFilter {
  bool gone_too = false;
  model::InstanceId after = {};
  std::size_t limit = 1000;
};

struct PriceFilter {
  std::string set = {}, type = {};  ///< Empty: any.
  std::size_t limit = 0;            ///< 0: all.
};

/// A lease, with what work of other kinds does not have.
struct StoredLease {
  model::WorkItem item;
  model::LeaseRecord terms;
};

/// The resources that one attempt or lease (attempt number 0) used of its instance, and when.
struct Use {
  model::AttemptId attempt;
  model::InstanceId instance;
  std::string principal;
  model::Resources needs;
  Wall from, to;  ///< to 0: it still runs.
};

struct Counts {
  std::vector<std::uint64_t> jobs;                  ///< By WorkState; no other kind of work.
  std::uint64_t instances = 0;                      ///< Not gone.
  std::uint64_t ledger_first = 0, ledger_last = 0;  ///< Revisions; 0: none.
  std::uint64_t database_bytes = 0;
};

/// Reads of durable data. A commit is visible once its callback was called.
/// Threads: any, several at once. Each call takes one of a few connections, and waits up to 2 s if
/// all are in use. Every call blocks, so the loop must not call it. SQLite: on the disk, mostly
/// well below a millisecond. PostgreSQL: on the server, a round trip per statement, or some seconds
/// if it does not answer. kUnavailable: try again. A damaged row is left out of lists; asked for by
/// its id it is kInternal, with a message that names the row.
class Reads {
 public:
  static Result<std::unique_ptr<Reads>> open(const Place& place, std::size_t connections);
  ~Reads();
  Reads(const Reads&) = delete;
  Reads& operator=(const Reads&) = delete;

  /// kNotFound if there is none, or if it is another kind of work. Bodies may be megabytes.
  Result<model::WorkItem> job(model::WorkId id, bool with_body = true) const;
  /// kNotFound if there is none, or if it is another kind of work.
  Result<StoredLease> lease(model::WorkId id, bool with_body = true) const;
  /// The rows of those of the leases that are stored, without keys and notice commands: those of
  /// one lease may have tens of kilobytes.
  Result<std::map<model::WorkId, model::LeaseRecord>> lease_terms(
      const std::vector<model::WorkId>& leases) const;
  /// The members of `among` that `principal` submitted.
  Result<std::set<model::WorkId>> submitted_by(std::string_view principal,
                                               const std::set<model::WorkId>& among) const;
  /// Those that are stored, with who submitted them.
  Result<std::map<model::WorkId, std::string>> submitters(
      const std::vector<model::WorkId>& work) const;
  Result<StoredAttempt> attempt(model::AttemptId id) const;
  /// Work of one kind, without bodies.
  Result<Page<model::WorkItem>> jobs(const JobFilter& filter) const;

  /// In order, revisions after `after`.
  Result<Page<model::LedgerRecord>> ledger(model::Revision after, std::size_t limit) const;
  /// Likewise of one subject ("j-42"). With newest_first the revisions before `after` (0: from the
  /// newest).
  Result<Page<model::LedgerRecord>> ledger_of(std::string_view subject, model::Revision after,
                                              std::size_t limit, bool newest_first = false) const;

  /// Secrets of identities are left out.
  Result<model::InstanceRecord> instance(model::InstanceId id) const;
  Result<Page<model::InstanceRecord>> instances(const InstanceFilter& filter) const;
  Result<Counts> counts() const;

  /// In order of set, type, market and zone; the newest first.
  Result<Page<model::PriceRow>> prices(const PriceFilter& filter) const;
  /// Calls `seen` for each attempt that ran within [from, to), by work, and then for each lease
  /// that was granted then. Reads all attempts, 10,000 at a time: about a second for a few million.
  /// Changes during the call may be missed.
  Result<void> uses(Wall from, Wall to, const std::function<void(const Use&)>& seen) const;

 private:
  struct Session;
  class Borrowed;
  explicit Reads(std::vector<std::unique_ptr<Session>> sessions);
  [[nodiscard]] Result<Borrowed> borrow() const;

  mutable Mutex mutex_;
  mutable Condition returned_;
  mutable std::vector<std::unique_ptr<Session>> free_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::store
