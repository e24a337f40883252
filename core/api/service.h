#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/model/records.h"
#include "core/model/views.h"

/// What the HTTP server needs of the daemon. Two implementations: core/daemon, and a fake in the
/// API's tests.
namespace hostler::api {

enum class Role : std::uint8_t { kRead, kSubmit, kAdmin };

/// Who asks: "user alice" by peer credentials, "token ci" by token.
struct Principal {
  std::string name;
  Role role = Role::kRead;
};

/// Called once, on any thread, possibly before the asking function has returned.
template <class T>
using Answer = std::function<void(Result<T>)>;

struct JobDetail {
  model::WorkItem job;  ///< `record` is the present one; body set where it was asked for.
  std::optional<model::WaitingView> waiting;
};
struct JobFilter {
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

enum class Stream : std::uint8_t { kStdout, kStderr };
struct OutputQuery {
  Stream stream = Stream::kStdout;
  std::uint32_t attempt = 0;  ///< That `offset` is of; 0: of whichever is current.
  std::uint64_t offset = 0;
  std::size_t max = 65536;

  /// Where to read on in `current`: another attempt's output is another one, from its begin.
  [[nodiscard]] std::uint64_t offset_in(std::uint32_t current) const {
    return attempt == 0 || attempt == current ? offset : 0;
  }
};
struct OutputPart {
  std::uint32_t attempt = 0;  ///< Whose it is; 0: there is none yet.
  std::string data;
  std::uint64_t offset = 0;  ///< Of data's first byte; larger than asked for after a gap.
  std::uint64_t lost = 0;    ///< Bytes between the asked offset and `offset` that fell out.
  bool complete = false;     ///< Nothing follows `data`, ever.
};
struct OutputFile {
  std::string path;  ///< Relative.
  std::uint64_t size = 0;
};

/// One upload in progress; dropped without finish() it leaves nothing. Blocking, one thread.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  virtual Result<void> append(std::string_view bytes) = 0;
  /// Fails with kInvalidArgument if the content does not have the promised sha256.
  virtual Result<void> finish() = 0;
};

struct PriceQuery {
  std::string set, type;  ///< Empty: any.
  std::size_t limit = 1000;
};
struct PricesView {
  std::vector<model::PriceSeen> prices;  ///< Of each set, type, market and zone newest first.
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
  std::vector<model::LedgerRecord> records;  ///< Newest last, at most 200; of a pool its decisions.
  std::optional<model::WaitingView> waiting;
  std::optional<model::InstanceView> instance;
  std::optional<model::PoolView> pool;
  std::optional<model::SetView> set;
  model::ReasonsView reasons;
  std::vector<model::GateRecord> gates;
};

struct HealthView {
  bool ok = true;
  struct Problem {
    std::string of;    ///< "store", "set aws".
    std::string text;  ///< For those who may read: it may name hosts and files.
  };
  std::vector<Problem> problems;
  model::Revision revision = 0;
  std::string version;
};

/// Threads: every method from any thread; none blocks for longer than a read of the store takes,
/// unless it says so. Rights are checked here: kForbidden names what is missing.
class Service {
 public:
  virtual ~Service() = default;

  /// All or none, durable when answered. The items are those of job_codec's submitted_job(), and
  /// their inputs were uploaded; a job that no instance type can ever run is refused here.
  virtual void submit(const Principal& who, std::vector<model::WorkItem> jobs,
                      Answer<std::vector<model::WorkId>> answer) = 0;
  virtual void cancel(const Principal& who, model::WorkId job, Answer<void> answer) = 0;
  virtual void job(const Principal& who, model::WorkId job, bool with_body,
                   Answer<JobDetail> answer) = 0;
  virtual void jobs(const Principal& who, const JobFilter& filter, Answer<JobPage> answer) = 0;

  /// The current or last attempt's output from `query`'s offset in it on, at most `max` bytes.
  virtual void output(const Principal& who, model::WorkId job, const OutputQuery& query,
                      Answer<OutputPart> answer) = 0;
  /// Calls `wake` (any thread, quickly) whenever output of the job is durable or it ended.
  virtual std::shared_ptr<void> on_new_output(model::WorkId job, std::function<void()> wake) = 0;
  virtual void output_files(const Principal& who, model::WorkId job,
                            Answer<std::vector<OutputFile>> answer) = 0;
  /// An open, read-only descriptor of one file; the caller closes it.
  virtual Result<int> open_output_file(const Principal& who, model::WorkId job,
                                       const std::string& path) = 0;

  virtual Result<bool> has_blob(const std::string& sha256) = 0;
  virtual Result<std::unique_ptr<BlobWriter>> put_blob(const Principal& who,
                                                       const std::string& sha256) = 0;

  virtual void instances(const Principal& who, Answer<std::vector<model::InstanceView>> answer) = 0;
  virtual void set_idle_behavior(const Principal& who, model::InstanceId instance,
                                 model::IdleBehavior behavior, Answer<void> answer) = 0;
  virtual void kill(const Principal& who, model::InstanceId instance, const std::string& reason,
                    Answer<void> answer) = 0;
  virtual void pools(const Principal& who, Answer<std::vector<model::PoolView>> answer) = 0;
  virtual void sets(const Principal& who, Answer<std::vector<model::SetView>> answer) = 0;
  virtual void gates(const Principal& who, Answer<std::vector<model::GateRecord>> answer) = 0;
  /// What clouds said that types cost.
  virtual void prices(const Principal& who, const PriceQuery& query, Answer<PricesView> answer) = 0;
  /// A submitter sees what is his, and no totals. Reads all attempts that are kept.
  virtual void cost(const Principal& who, const CostQuery& query,
                    Answer<model::CostView> answer) = 0;
  /// `subject`: "j-42", "h-7", "pool default", "set local", "gate ...".
  virtual void why(const Principal& who, const std::string& subject, Answer<WhyView> answer) = 0;

  /// Ledger records after `after`, oldest first, at most `limit`; never waits.
  virtual void events(const Principal& who, model::Revision after, std::size_t limit,
                      Answer<std::vector<model::LedgerRecord>> answer) = 0;
  /// Calls `wake` (any thread, quickly) whenever new records are durable; the handle ends it.
  virtual std::shared_ptr<void> on_new_events(std::function<void()> wake) = 0;

  virtual HealthView health() = 0;
  virtual std::string metrics_text() = 0;
};

}  // namespace hostler::api
