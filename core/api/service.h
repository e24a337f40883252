#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/lease_codec.h"
#include "core/base/error.h"
#include "core/model/dump.h"
#include "core/model/push.h"
#include "core/model/quotas.h"
#include "core/model/records.h"
#include "core/model/views.h"

/// The daemon as the HTTP server sees it. Two implementations: core/daemon, and a fake in the API's
/// tests.
namespace hostler::api {

using model::Role;

/// The client of a request: "user alice" by peer credentials, "token ci" by token.
struct Principal {
  std::string name;
  Role role = Role::kRead;
  std::vector<std::string> pools = {};  ///< Of the role `scaler`.
  bool on_socket = false;               ///< Known by peer credentials.
};

/// Called once, on any thread, possibly before the function that takes it has returned.
template <class T>
using Answer = std::function<void(Result<T>)>;

struct JobDetail {
  model::WorkItem job;  ///< The present record; `body` only where it was asked for.
  std::optional<model::WaitingView> waiting;
  std::vector<std::string> cards = {};  ///< UUIDs of those that its attempt has now.
};
/// Which work of one kind to list.
struct WorkFilter {
  std::vector<model::WorkState> states;  ///< Empty: any.
  std::string principal;                 ///< Empty: any.
  std::string name;                      ///< Empty: any; exact.
  model::WorkId before;                  ///< Cursor: ids below this; 0: from the newest.
  std::size_t limit = 100;
};
struct JobPage {
  std::vector<JobDetail> jobs;  ///< Newest first.
  model::WorkId next;           ///< Cursor of the next page; 0: this was the last.
};

struct LeaseDetail {
  LeaseRows lease;
  LeaseNow now;
};
struct LeasePage {
  std::vector<LeaseDetail> leases;  ///< Newest first.
  model::WorkId next;               ///< As in JobPage.
};

enum class Stream : std::uint8_t { kStdout, kStderr };
struct OutputQuery {
  Stream stream = Stream::kStdout;
  std::uint32_t attempt = 0;  ///< The attempt that `offset` counts in; 0: the current one.
  std::uint64_t offset = 0;
  std::size_t max = 65536;

  /// Where to continue in the output of attempt `current`: at its start if the offset counts in
  /// another attempt.
  [[nodiscard]] std::uint64_t offset_in(std::uint32_t current) const {
    return attempt == 0 || attempt == current ? offset : 0;
  }
};
struct OutputPart {
  std::uint32_t attempt = 0;  ///< The attempt of the output; 0: there is none yet.
  std::string data;
  std::uint64_t offset = 0;  ///< Of the first byte of `data`; larger than asked for after a gap.
  std::uint64_t lost = 0;    ///< Bytes between the requested offset and `offset` that are not kept.
  bool ended = false;        ///< Nothing will ever follow `data`.
  bool complete = false;     ///< It has ended, and no byte of the stream is missing.
};
struct OutputFile {
  std::string path;  ///< Relative.
  std::uint64_t size = 0;
};

/// One upload. Destroyed without finish() it leaves nothing. Calls block while they write; one
/// thread at a time.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  virtual Result<void> append(std::string_view bytes) = 0;
  /// Fails with kInvalidArgument if the content does not have the promised sha256.
  virtual Result<void> finish() = 0;
};

/// Bytes that are made while they are sent. Calls block on the disk; one thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// The next piece, some hundred KiB. Empty: the end. An error ends it, and is in the log.
  virtual Result<std::string> next() = 0;
};

struct PriceQuery {
  std::string set, type;  ///< Empty: any.
  std::size_t limit = 1000;
};
struct PricesView {
  std::vector<model::PriceRow> prices;  ///< Of each set, type, market and zone newest first.
  bool more = false;
};
struct CostQuery {
  enum class By : std::uint8_t { kUser, kJob, kInstance, kType, kPool, kSet };
  By by = By::kUser;
  Wall since, until;  ///< until 0: now.
  std::size_t limit = 100;
};
struct WhyView {
  std::string subject;
  std::vector<model::LedgerRecord>
      records;  ///< Newest last, at most 200; for a pool its decisions.
  std::optional<model::WaitingView> waiting;
  std::optional<model::TurnView> turn;  ///< With `waiting`.
  std::optional<Wall> until;            ///< Of a lease that is granted: the end of its term.
  std::optional<model::InstanceView> instance;
  std::optional<model::PoolView> pool;
  std::optional<model::SetView> set;
  model::ReasonsView reasons;
  std::vector<model::GateRecord> gates;
  std::vector<std::string> conditions;  ///< Of the site: what is wrong now, one sentence each.
};

struct HealthView {
  bool ok = true;
  struct Problem {
    std::string of;    ///< "store", "set aws".
    std::string text;  ///< May name hosts and files: only for clients with a role.
  };
  std::vector<Problem> problems;
  model::Revision revision = 0;
  std::string version;
};

/// All that the daemon knows of its site, at one moment.
struct DumpView {
  Wall time;
  model::Revision revision = 0;  ///< Of the last change, which may not be durable yet.
  std::string version;
  std::vector<std::string> conditions;  ///< As WhyView has them of the site.
  std::vector<model::PoolView> pools;
  std::vector<model::SetView> sets;
  std::vector<model::InstanceView> instances;
  std::vector<model::GateRecord> gates;
  model::DumpParts parts;
  std::string snapshot;  ///< As plan_snapshot() answers it; empty: nothing is planned any more.
};

/// Threads: every method may be called on any thread and blocks at most for a read of the store.
/// Rights that depend on the subject are checked here; kForbidden names the missing role.
class Service {
 public:
  virtual ~Service() = default;

  /// Accepts all jobs or none; they are durable when it answers. The items are made by job_codec's
  /// submitted_job() and their inputs are uploaded. Refuses a job that no instance type can run.
  virtual void submit(const Principal& who, std::vector<model::WorkItem> jobs,
                      Answer<std::vector<model::WorkId>> answer) = 0;
  /// What would become of the jobs, as JSON: the answer of `POST /v1/dry-run`. Fails as submit()
  /// would. Changes nothing, and needs none of their inputs.
  virtual void dry_run(const Principal& who, std::vector<model::WorkItem> jobs,
                       Answer<std::string> answer) = 0;
  /// Ends a job or a lease. kConflict if it has ended.
  virtual void cancel(const Principal& who, model::WorkId work, Answer<void> answer) = 0;
  /// Lets a held job or lease wait for a host. kConflict if it is not held.
  virtual void release(const Principal& who, model::WorkId work, Answer<void> answer) = 0;
  /// All held jobs and leases at once; answers with their ids.
  virtual void release_held(const Principal& who, Answer<std::vector<model::WorkId>> answer) = 0;
  virtual void cancel_held(const Principal& who, Answer<std::vector<model::WorkId>> answer) = 0;
  virtual void job(const Principal& who, model::WorkId job, bool with_body,
                   Answer<JobDetail> answer) = 0;
  virtual void jobs(const Principal& who, const WorkFilter& filter, Answer<JobPage> answer) = 0;

  /// As submit(), for one lease or gang. kInvalidArgument if no pool lends such a
  /// host for its term.
  virtual void submit_lease(const Principal& who, LeaseRows lease,
                            Answer<std::vector<model::WorkId>> answer) = 0;
  /// As dry_run(), for one lease or gang.
  virtual void dry_run_lease(const Principal& who, LeaseRows lease, Answer<std::string> answer) = 0;
  virtual void lease(const Principal& who, model::WorkId lease, Answer<LeaseDetail> answer) = 0;
  virtual void leases(const Principal& who, const WorkFilter& filter, Answer<LeasePage> answer) = 0;
  /// The holder gives its host back; `used` false: it has not touched it. kConflict if it is not
  /// granted.
  virtual void return_lease(const Principal& who, model::WorkId lease, bool used,
                            Answer<void> answer) = 0;
  /// A new term begins now. kConflict if the lease is not granted; kInvalidArgument if its pool
  /// does not lend for this time.
  virtual void renew_lease(const Principal& who, model::WorkId lease, Duration term,
                           Answer<void> answer) = 0;

  /// Output of the current or last attempt from the query's offset on, at most `max` bytes.
  virtual void output(const Principal& who, model::WorkId job, const OutputQuery& query,
                      Answer<OutputPart> answer) = 0;
  /// Calls `wake` whenever new output of the job is durable and when it has ended, until the
  /// returned handle is destroyed. `wake` is called on any thread and must return at once.
  virtual std::shared_ptr<void> on_new_output(model::WorkId job, std::function<void()> wake) = 0;
  virtual void output_files(const Principal& who, model::WorkId job,
                            Answer<std::vector<OutputFile>> answer) = 0;
  /// An open, read-only descriptor of one file; the caller closes it. kConflict: a part of the file
  /// is missing, and `partial` does not allow that.
  virtual Result<int> open_output_file(const Principal& who, model::WorkId job,
                                       const std::string& path, bool partial) = 0;

  /// Deletes the kept output of a job that has ended, and remembers who did it; answers with the
  /// bytes that were there. kConflict: the job has not ended.
  virtual void remove_outputs(const Principal& who, model::WorkId job,
                              Answer<std::uint64_t> answer) = 0;

  /// Output of a job that has ended is not waited for any more: the job ends without it. kConflict:
  /// the job is in another state than collecting.
  virtual void give_up_output(const Principal& who, model::WorkId job, Answer<void> answer) = 0;

  virtual Result<bool> has_blob(const std::string& sha256) = 0;
  virtual Result<std::unique_ptr<BlobWriter>> put_blob(const Principal& who,
                                                       const std::string& sha256) = 0;

  /// Limits of a principal and what it has; empty: of all. A submitter sees its own.
  virtual void quotas(const Principal& who, const std::string& principal,
                      Answer<std::vector<model::QuotaView>> answer) = 0;

  virtual void instances(const Principal& who, Answer<std::vector<model::InstanceView>> answer) = 0;
  virtual void set_idle_behavior(const Principal& who, model::InstanceId instance,
                                 model::IdleBehavior behavior, Answer<void> answer) = 0;
  virtual void kill(const Principal& who, model::InstanceId instance, const std::string& reason,
                    Answer<void> answer) = 0;
  /// The host is ready, in a pool whose readiness is `reported`; again: no effect. kConflict: it is
  /// of another pool, or has ended. kUnavailable: its cloud has not shown it yet.
  virtual void report_ready(const Principal& who, model::InstanceId instance,
                            Answer<void> answer) = 0;
  /// Asks the cloud of the instance; takes up to a minute. kNotFound: there is no such instance, or
  /// it has ended. kConflict: the cloud has not named it yet, or the driver cannot read consoles.
  /// kUnavailable: the cloud or the driver cannot answer now.
  virtual void console(const Principal& who, model::InstanceId instance,
                       Answer<model::ConsoleView> answer) = 0;
  virtual void pools(const Principal& who, Answer<std::vector<model::PoolView>> answer) = 0;
  /// A push of an outside scheduler, within the limits of core/model/push.h. kConflict:
  /// another principal pushes for the pool, a later session of this one has taken over
  /// ("superseded"), or a later push of the session was taken. kNotFound: there is no such pool, or
  /// no scheduler sizes it.
  virtual void push(const Principal& who, const std::string& pool, model::Push push,
                    Answer<model::PushAnswer> answer) = 0;
  /// The last push of the pool, and what became of it. kNotFound as above.
  virtual void scaling_info(const Principal& who, const std::string& pool,
                            Answer<model::ScalingInfoView> answer) = 0;
  /// Types that are configured, and those that pools choose of what is offered.
  virtual void types(const Principal& who, Answer<std::vector<model::TypeView>> answer) = 0;
  virtual void sets(const Principal& who, Answer<std::vector<model::SetView>> answer) = 0;
  /// Stores the account that the set's cloud reports in place of the stored one, and opens the set.
  virtual void accept_account(const Principal& who, const std::string& set,
                              Answer<void> answer) = 0;
  /// The set's list of this number is right: the instances that it omits are gone, unless their
  /// hosts are connected.
  virtual void believe(const Principal& who, const std::string& set, std::uint64_t list,
                       Answer<void> answer) = 0;
  /// Ends the hosts of the set that became unreachable together.
  virtual void give_up(const Principal& who, const std::string& set, Answer<void> answer) = 0;
  virtual void gates(const Principal& who, Answer<std::vector<model::GateRecord>> answer) = 0;
  /// Opens a gate, so that the calls that it holds back are tried now. kNotFound: no such gate.
  virtual void open_gate(const Principal& who, const std::string& key, Answer<void> answer) = 0;
  /// Prices that the clouds have reported, by instance type.
  virtual void prices(const Principal& who, const PriceQuery& query, Answer<PricesView> answer) = 0;
  /// A submitter sees its own costs and no totals. Reads all attempts that are kept, on a thread of
  /// its own.
  virtual void cost(const Principal& who, const CostQuery& query,
                    Answer<model::CostView> answer) = 0;
  /// A submitter sees its own row, and the use of all together.
  virtual void shares(const Principal& who, Answer<model::SharesView> answer) = 0;
  /// `subject`: "j-42", "l-3", "h-7", "pool default", "set local", "gate ...".
  virtual void why(const Principal& who, const std::string& subject, Answer<WhyView> answer) = 0;

  /// What a plan would do now, and what it depends on, each as JSON of its schema in config/.
  virtual void plan(const Principal& who, Answer<std::string> answer) = 0;
  virtual void plan_snapshot(const Principal& who, Answer<std::string> answer) = 0;
  /// The state of the site, without secrets and without single jobs that wait. kUnavailable while
  /// another one is made.
  virtual void dump(const Principal& who, Answer<DumpView> answer) = 0;
  /// What a reload of a configuration with this text would change, as JSON. Relative paths in it
  /// are relative to `folder`, on the daemon's machine.
  virtual void config_diff(const Principal& who, std::string text, const std::string& folder,
                           Answer<std::string> answer) = 0;

  /// Ledger records after revision `after`, oldest first, at most `limit`. Does not wait for new
  /// ones.
  virtual void events(const Principal& who, model::Revision after, std::size_t limit,
                      Answer<std::vector<model::LedgerRecord>> answer) = 0;
  /// Calls `wake` whenever new records are durable, until the returned handle is destroyed. `wake`
  /// is called on any thread and must return at once.
  virtual std::shared_ptr<void> on_new_events(std::function<void()> wake) = 0;

  /// A consistent copy of rows and files as a tar archive. It holds secrets. kUnavailable while
  /// another one is read, or expired records are removed.
  virtual void backup(const Principal& who, Answer<std::shared_ptr<ByteSource>> answer) = 0;

  virtual HealthView health() = 0;
  virtual std::string metrics_text() = 0;
};

}  // namespace hostler::api
