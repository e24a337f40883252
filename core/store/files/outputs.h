#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/mutex.h"
#include "core/base/time.h"
#include "core/model/ids.h"
#include "core/store/files/file_sizes.h"
#include "core/store/files/output_files.h"
#include "core/store/files/output_use.h"
#include "core/store/files/reserve.h"
#include "core/store/files/stream_file.h"

namespace hostler::store {

/// Streams of an attempt: its two outputs, then its files in the order of their list.
inline constexpr std::uint32_t kStdoutStream = 0, kStderrStream = 1, kFirstFileStream = 2;

struct OutputLimits {
  std::uint64_t stream_bytes_max = std::uint64_t{64} << 20U;  ///< Kept of stdout and of stderr.
  std::uint64_t file_bytes_max = std::uint64_t{64} << 30U;    ///< Of one output file.
  std::size_t files_max = 10'000;                             ///< Of one attempt.
  std::size_t open_max = 128;  ///< Files that stay open between writes; as many are added by one.
};

/// Who deleted the output of an attempt, and when.
struct Discarded {
  std::string by;
  Wall at;
  friend bool operator==(const Discarded&, const Discarded&) = default;
};

/// Output that is larger than an inline output: "spool/<shard>/<attempt>/<stream>".
///
/// Threads: append() and set_files() can be called from any thread and never block. The thread of
/// this object writes the queue and makes it durable with one sync per file. Callbacks come on that
/// thread, in order, and must not wait. A write that fails as the disk is full is tried again until
/// it succeeds, so nothing is skipped; callers limit the queue by their credit. While the reserve
/// is low nothing is written, and this thread refills it. Reads: any thread; they block.
class Outputs {
 public:
  /// The end of the stream: all bytes before it are durable here, or known to be lost.
  using OnStored = std::function<void(Result<std::uint64_t>)>;
  using OnDone = std::function<void(Result<void>)>;

  static Result<std::unique_ptr<Outputs>> open(const std::filesystem::path& folder,
                                               OutputLimits limits, Reserve* reserve = nullptr);
  /// Writes the queue; a write that fails then gets an error.
  ~Outputs();
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  /// A repeated call with the same offset changes nothing. An offset beyond the end means that the
  /// bytes between were lost on the host. Empty `bytes` ask for the end.
  /// kTooLarge: the stream has reached its limit; earlier bytes stay.
  void append(model::AttemptId attempt, std::uint32_t stream, std::uint64_t offset,
              std::string bytes, OnStored done);
  /// Stores the list of an ended attempt's files; their bytes follow as streams. A second list is
  /// ignored. Fails like check_output_files().
  void set_files(model::AttemptId attempt, std::vector<OutputFile> files, OnDone done);
  /// Removes all output of an attempt; nothing more may be appended to it. Any thread; blocks.
  Result<void> remove(model::AttemptId attempt);
  /// Likewise, and keeps in its place who did it and when. Returns the bytes that were there. Can
  /// be repeated; the first one stays. It works on a full disk, too.
  Result<std::uint64_t> discard(model::AttemptId attempt, const Discarded& by);
  /// Unset: it was not discarded.
  Result<std::optional<Discarded>> discarded(model::AttemptId attempt) const;

  /// Up to `max` bytes of a stream from `offset`; empty if there are none.
  Result<StreamPart> read(model::AttemptId attempt, std::uint32_t stream, std::uint64_t offset,
                          std::size_t max) const;
  /// The end of the stored bytes, after making them durable: a reconnect resumes there. Any thread;
  /// blocks for one sync, if there is a file.
  Result<std::uint64_t> durable_end(model::AttemptId attempt, std::uint32_t stream) const;
  /// About the bytes of all its streams that are here. Any thread; reads the names of one folder.
  [[nodiscard]] std::uint64_t kept(model::AttemptId attempt) const;
  /// Empty if the attempt has none.
  Result<std::vector<OutputFile>> files(model::AttemptId attempt) const;
  /// Open for reading. kNotFound: no such file, or it was not collected (the message says why).
  /// kConflict: a part of it is missing, and `partial` does not allow that.
  Result<UniqueFd> open_file(model::AttemptId attempt, std::string_view path,
                             bool partial = false) const;

  /// The reserve is low or whole again. Any thread.
  void reserve_changed() {
    const MutexLock lock(mutex_);  // else it may come between the look of the thread and its wait
    wake_.notify_one();
  }

  /// About the size of all output on the disk as counted(), and whose it is.
  [[nodiscard]] std::uint64_t bytes() const { return use_.total(); }
  [[nodiscard]] OutputUse& use() { return use_; }
  /// The error of the last try; empty after a success.
  [[nodiscard]] std::string problem() const;

 private:
  struct Key {
    model::AttemptId attempt;
    std::uint32_t stream = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Append {
    Key key;
    std::uint64_t offset = 0;
    std::string bytes;
    OnStored done;
  };
  /// set_files; runs once all appends before it are done.
  struct ListTask {
    std::function<Result<void>()> run;
    OnDone done;
  };
  struct Item {
    std::optional<Append> append;
    std::optional<ListTask> task;
  };
  struct Open {
    StreamFile file;
    std::list<Key>::iterator use;  ///< Its place in uses_.
  };

  Outputs(std::filesystem::path folder, OutputLimits limits, Reserve* reserve);
  void push(Item item);
  void run();
  void wait_for_work() HOSTLER_REQUIRES(mutex_);
  /// Only rows may be written now.
  [[nodiscard]] bool must_wait() const { return reserve_ != nullptr && !reserve_->refill(); }
  /// Takes appends up to the next task, which goes to `task`.
  std::vector<Append> take_group(std::optional<ListTask>& task) HOSTLER_REQUIRES(mutex_);
  /// Tries again while the disk is full, until the object is destroyed.
  Result<void> retry_until_done(const std::function<Result<void>()>& work) HOSTLER_EXCLUDES(mutex_);
  void write_appends(const std::vector<Append>& appends) HOSTLER_EXCLUDES(mutex_);
  Result<void> write(const Append& append);
  Result<StreamFile*> stream_file(Key key);
  Result<std::uint64_t> bytes_max(Key key);
  Result<const FileSizes::Sizes*> sizes_of(model::AttemptId attempt);
  void count_all();
  void close_least_used();
  Result<void> write_list(model::AttemptId attempt, const std::vector<OutputFile>& files);

  [[nodiscard]] std::filesystem::path folder_of(model::AttemptId attempt) const;
  [[nodiscard]] std::filesystem::path file_of(Key key) const;

  const std::filesystem::path folder_;
  const OutputLimits limits_;
  Reserve* const reserve_;  ///< May be null.
  OutputUse use_;

  // Used by the thread of this object only.
  std::map<Key, Open> open_;
  std::list<Key> uses_;  ///< Least recently used first.
  FileSizes sizes_;

  mutable Mutex mutex_;
  Condition wake_;
  std::deque<Item> queue_ HOSTLER_GUARDED_BY(mutex_);
  std::string problem_ HOSTLER_GUARDED_BY(mutex_);
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

}  // namespace hostler::store
