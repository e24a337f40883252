#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/agent/host/system/os.h"
#include "core/model/ids.h"
#include "core/model/job.h"

/// The append-only journal of one host's attempts. The server writes Begin before it forks the shim
/// of an attempt. The shim writes End, even if no server is alive. Each record is one write() to a
/// file opened with O_APPEND, so server and shims can write at the same time.
///
/// The journal is a sequence of files, journal.1, journal.2 ... A new file begins with the records
/// of all attempts that are not forgotten. An old file is removed when the last shim that writes to
/// it has ended. Writes are not synced at once. A crash of the server loses nothing that was
/// written. After a crash of the host, the boot id is different, so a lost Begin does not matter.
/// An End must not be lost: SyncPlan says when it is synced.
namespace hostler::agent {

/// The bytes that the texts of a Begin's cards and files may have together: a record is bounded.
inline constexpr std::size_t kCardBytesMax = std::size_t{32} << 10;

/// The attempt is about to start. Agents of version 5 of the protocol and before wrote it without
/// cards; it is written so still if it has none.
struct Begin {
  model::AttemptId attempt;
  std::uint64_t sequence = 0;
  std::string boot_id;
  std::uint32_t slot = 0;  ///< See Slots.
  std::uint32_t uid = 0;   ///< The attempt's own uid; 0: the agent's.
  bool has_script = false;
  std::uint64_t output_head_max = 0;
  std::uint64_t output_tail_max = 0;
  std::vector<std::string> cards = {};  ///< UUIDs of the cards that are its own while it runs.
  std::vector<std::string> files = {};  ///< The device files of these cards.
};
/// The attempt has ended, and no process of it is left.
struct End {
  model::AttemptId attempt;
  model::AttemptEnd end;
  bool spooled = true;  ///< At least one output stream has a spool file.
};
/// The daemon has acknowledged the attempt.
struct Forget {
  model::AttemptId attempt;
};
/// The first record of each file.
struct Opened {
  std::string state_id;
  std::uint64_t last_sequence = 0;
};
using Record = std::variant<Begin, End, Forget, Opened>;

/// The bytes of one record: header and body.
template <class T>
std::string to_record(const T& record);

/// Appends an End through the descriptor that a shim inherited.
Result<void> append_end(int journal, const End& end);

/// The journal as the server uses it. For one thread; blocks for disk access.
class Journal {
 public:
  /// Opens the journal of the working directory and calls `apply` for every complete record, in
  /// order. Skips torn records. Later records are appended to the newest file.
  Result<void> open(const std::function<void(Record&&)>& apply);

  Result<void> append(std::string_view record);
  /// Calls `apply` for every record that was appended to any file since the last call, by this
  /// process or by a shim.
  void read_new(const std::function<void(Record&&)>& apply);

  /// Creates a new file that begins with `records`, for all later appends. Old files are still
  /// read. After an error the journal continues with the present file.
  Result<void> rotate(std::string_view records);
  /// Removes files older than `number`.
  void drop_before(std::uint64_t number);

  /// The newest file, which new shims inherit, and its number.
  [[nodiscard]] int fd() const { return files_.rbegin()->second.fd.get(); }
  [[nodiscard]] std::uint64_t number() const { return files_.rbegin()->first; }
  /// Number of the oldest file.
  [[nodiscard]] std::uint64_t oldest() const { return files_.begin()->first; }
  /// Bytes of the newest file that have been read.
  [[nodiscard]] std::uint64_t size() const { return files_.rbegin()->second.read; }
  void sync();

 private:
  struct File {
    UniqueFd fd;
    std::uint64_t read = 0;  ///< Offset behind the last record that was applied.
  };
  struct Unmap {
    void operator()(char* buffer) const;
  };
  Result<void> map_buffer();
  void read_file(File& file, const std::function<void(Record&&)>& apply);
  /// Applies all complete records in `bytes`. Returns the number of bytes left at the end, which
  /// are the beginning of a record.
  static std::size_t take_records(File& file, std::string_view bytes,
                                  const std::function<void(Record&&)>& apply);

  std::map<std::uint64_t, File> files_;
  std::unique_ptr<char, Unmap> buffer_;  ///< For read_file(); forked children do not get it.
};

}  // namespace hostler::agent
