#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>

#include "core/agent/host/journal/attempts.h"
#include "core/agent/host/journal/journal.h"
#include "tests/fuzz/target.h"
#include "tests/temp_folder.h"

/// The agent's journal as it may lie on a disk after a crash: whole records, torn ones, and
/// whatever the input says between them.
///
/// The input is a row of steps: a byte below 120 stands for so many bytes of garbage, up to 127 for
/// a torn record, above for a whole one.
namespace hostler::fuzz {
namespace {

/// No 'h': nothing in a record of ours looks like the begin of another.
std::string text(Bytes& in) {
  std::string out(in.text().substr(0, 128));
  std::ranges::replace(out, 'h', 'H');
  return out;
}

agent::Record record(std::uint8_t choice, Bytes& in) {
  const model::AttemptId id{model::WorkId{choice % 8U + 1U}, 1};
  if (choice < 176) {
    agent::Begin begin{.attempt = id, .sequence = choice, .boot_id = text(in)};
    if (choice < 152) begin.cards = {text(in)};
    return begin;
  }
  if (choice < 224) {
    agent::End end{.attempt = id, .end = {}};
    end.end.stdout_inline = text(in);
    return end;
  }
  if (choice < 250) return agent::Forget{id};
  return agent::Opened{"state", choice};
}

std::string bytes_of(const agent::Record& record) {
  return std::visit([](const auto& one) { return agent::to_record(one); }, record);
}

/// A journal in the state folder, and what was read of it as it grew.
class Grown {
 public:
  Grown() { promise(journal_.open(apply()).has_value(), "a journal opens"); }
  void append(std::string_view bytes) {
    promise(journal_.append(bytes).has_value(), "a journal is written");
    journal_.read_new(apply());
  }
  [[nodiscard]] std::string snapshot() const { return attempts_.snapshot(); }

 private:
  std::function<void(agent::Record&&)> apply() {
    return [this](agent::Record&& one) { attempts_.apply(std::move(one)); };
  }
  agent::Journal journal_;
  agent::Attempts attempts_;
};

/// What the steps of the input write, and what must be found of it.
class Story {
 public:
  void step(std::uint8_t kind, Bytes& in) {
    if (kind < 120) {
      const std::string_view garbage = in.take(kind);
      is_forged_ = is_forged_ || garbage.find('h') != std::string_view::npos || mends(garbage);
      journal_.append(garbage);
    } else if (kind < 128) {
      const std::string whole = bytes_of(record(in.byte() | 128U, in));
      const std::size_t kept = in.byte() % whole.size();
      if (kept == 0) return;  // nothing was written: an earlier torn record is still the last
      journal_.append(std::string_view(whole).substr(0, kept));
      is_torn_ = true;
      torn_off_ = whole.substr(kept);
    } else {
      torn_off_.clear();
      agent::Record next = record(kind, in);
      journal_.append(bytes_of(next));
      whole_.apply(std::move(next));
    }
  }

  void check() {
    // As much as a torn record may claim to be long has to follow before it is known to be torn.
    if (is_torn_) journal_.append(std::string(kRecordMax, 'x'));
    const std::string grown = journal_.snapshot();
    promise(is_forged_ || grown == whole_.snapshot(), "every whole record is found");
    promise(Grown().snapshot() == grown, "read at once is read as it grew");
  }

 private:
  /// Whether garbage is what was torn off, so that the record is whole.
  bool mends(std::string_view garbage) {
    const std::size_t common = std::min(garbage.size(), torn_off_.size());
    if (torn_off_.empty() || torn_off_.substr(0, common) != garbage.substr(0, common)) {
      torn_off_.clear();
      return false;
    }
    torn_off_.erase(0, common);
    return torn_off_.empty();
  }

  static constexpr std::size_t kRecordMax = 512;  // none of ours is longer
  Grown journal_;
  agent::Attempts whole_;
  bool is_torn_ = false;
  std::string torn_off_;    ///< Of the record that was written last, if it was torn.
  bool is_forged_ = false;  ///< Garbage may look like a record: then nobody can tell.
};

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler::fuzz;
  const hostler::test::WorkingFolder state_folder;
  Bytes in(data, size);
  Story story;
  while (!in.empty()) {
    const std::uint8_t kind = in.byte();
    story.step(kind, in);
  }
  story.check();
  return 0;
}
