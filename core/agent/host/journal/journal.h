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

/// The append-only log of one host's attempts. The server writes that an attempt begins before it
/// forks; the attempt's shim writes its end, even if no server lives. Each record is one write()
/// to a file opened with O_APPEND, so that both may write at once.
///
/// It is a row of files, journal.1, journal.2 ...: a new one begins with what is not forgotten, and
/// an old one goes when the last shim that holds it has ended. Nothing is synced when it is
/// written: a crash of the server loses no page cache, and after a crash of the host, which changes
/// the boot id, a begin says nothing. An end that waits for its acknowledgement is: see SyncPlan.
namespace hostler::agent {

struct Begin {
  model::AttemptId attempt;
  std::uint64_t sequence = 0;
  std::string boot_id;
  std::uint32_t slot = 0;  ///< Its working folder; see Slots.
  std::uint32_t uid = 0;   ///< Of its own; 0: the agent's.
  bool has_script = false;
  std::uint64_t output_head_max = 0;
  std::uint64_t output_tail_max = 0;
};
struct End {
  model::AttemptId attempt;
  model::AttemptEnd end;
  bool spooled = true;  ///< There are files of its output.
};
/// The daemon has acknowledged it.
struct Forget {
  model::AttemptId attempt;
};
/// First in each file.
struct Opened {
  std::string state_id;
  std::uint64_t last_sequence = 0;
};
using Record = std::variant<Begin, End, Forget, Opened>;

template <class T>
std::string to_record(const T& record);

/// Appends an End through the descriptor that a shim inherited.
Result<void> append_end(int journal, const End& end);

class Journal {
 public:
  /// Opens the journal of the working directory and hands every whole record in it to `apply`, in
  /// order; a torn one at the end of a file is passed over. Continues the newest file.
  Result<void> open(const std::function<void(Record&&)>& apply);

  Result<void> append(std::string_view record);
  /// Hands over what was appended since the last call, by whomever, to any of the files.
  void read_new(const std::function<void(Record&&)>& apply);

  /// A new file that begins with `records`; appends go there. Old files are still read.
  Result<void> rotate(std::string_view records);
  /// Removes files older than `number`.
  void drop_before(std::uint64_t number);

  /// What a shim is to inherit, and the number of its file.
  [[nodiscard]] int fd() const { return files_.rbegin()->second.fd.get(); }
  [[nodiscard]] std::uint64_t number() const { return files_.rbegin()->first; }
  [[nodiscard]] std::uint64_t oldest() const { return files_.begin()->first; }
  [[nodiscard]] std::uint64_t size() const { return files_.rbegin()->second.read; }
  void sync();

 private:
  struct File {
    UniqueFd fd;
    std::uint64_t read = 0;  ///< Records before this were handed over.
  };
  struct Unmap {
    void operator()(char* buffer) const;
  };
  Result<void> map_buffer();
  void read_file(File& file, const std::function<void(Record&&)>& apply);
  /// Says how many of the bytes, at the end, are left: the begin of a record.
  static std::size_t take_records(File& file, std::string_view bytes,
                                  const std::function<void(Record&&)>& apply);

  std::map<std::uint64_t, File> files_;
  std::unique_ptr<char, Unmap> buffer_;  ///< Of read_file(); no child has it.
};

}  // namespace hostler::agent
