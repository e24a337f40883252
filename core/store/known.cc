#include "core/store/known.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

#include "core/base/text.h"
#include "core/store/files/folders.h"
#include "core/store/long_transaction.h"
#include "core/store/meta.h"

namespace hostler::store {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kLeftOut = "left_out_work";

constexpr std::uint64_t kNumbersLeftOut = 1'000'000, kEpochsLeftOut = 1'000;
/// For each second since the rows were written: the same backup may be restored twice.
constexpr std::uint64_t kNumbersOfASecond = 1'000;
constexpr std::int64_t kSecondsMax = 360'000'000;  ///< The clock may say anything.

Result<std::uint64_t> highest(Connection& connection, const char* key, const std::string& column,
                              const std::string& table) {
  const auto noted = HOSTLER_TRY(meta_number(connection, key));
  auto find =
      HOSTLER_TRY(connection.prepare("SELECT COALESCE(MAX(" + column + "), 0) FROM " + table));
  HOSTLER_TRY(find.start());
  if (!HOSTLER_TRY(find.next())) return noted;
  const auto last = find.i64(0);
  find.rewind();
  return std::max(noted, static_cast<std::uint64_t>(std::clamp<std::int64_t>(last, 0, kNumberMax)));
}

Result<std::uint64_t> revision_of(Connection& connection) {
  return highest(connection, "last_revision", "rev", "ledger");
}

Result<std::uint64_t> seconds_since_rows(Connection& connection, Wall now) {
  auto find =
      HOSTLER_TRY(connection.prepare("SELECT time_us FROM ledger ORDER BY rev DESC LIMIT 1"));
  HOSTLER_TRY(find.start());
  if (!HOSTLER_TRY(find.next())) return 0;
  const std::int64_t seconds = std::max<std::int64_t>(now.us, 0) / 1'000'000 -
                               std::max<std::int64_t>(find.i64(0), 0) / 1'000'000;
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(seconds, 0, kSecondsMax));
}

Result<void> add_left_out(Connection& connection, model::LeftOut more) {
  auto text = HOSTLER_TRY(meta_value(connection, kLeftOut));
  text += (text.empty() ? "" : " ") + std::to_string(more.first) + "-" + std::to_string(more.last);
  return put_meta(connection, kLeftOut, text);
}

/// Nobody knows what has become of this work since the rows were written.
Result<void> hold_work(Connection& connection) {
  const auto number = [](auto value) { return std::to_string(static_cast<int>(value)); };
  using enum model::WorkState;
  HOSTLER_TRY(connection.execute("UPDATE work SET restored = 1 WHERE state < " +
                                 number(kSucceeded) + " OR state = " + number(kHeld)));
  HOSTLER_TRY(connection.execute("UPDATE work SET state = " + number(kHeld) +
                                 ", reason_text = 'it waited when the backup was made, and may "
                                 "have run since' WHERE state = " +
                                 number(kQueued)));
  using enum model::InstanceState;
  return connection.execute(
      "UPDATE instances SET restored = 1, uses = " + std::to_string(model::kUsesUnknown) +
      " WHERE state NOT IN (" + number(kTerminating) + ", " + number(kAbandoned) + ", " +
      number(kGone) + ")");
}

}  // namespace

Result<std::vector<model::LeftOut>> left_out(Connection& connection) {
  std::vector<model::LeftOut> out;
  const auto text = HOSTLER_TRY(meta_value(connection, kLeftOut));
  for (const std::string_view range : split(text, ' ')) {
    const auto ends = split(range, '-');
    const auto first = parse_u64(ends.front()), last = parse_u64(ends.back());
    if (range.empty()) continue;
    if (ends.size() != 2 || !first || !last || *last > kNumberMax)
      return fail(Errc::kInternal, "the numbers that were left out are '" + printable(text, 60) +
                                       "': the database is damaged; restore a backup");
    out.push_back({*first, *last});
  }
  return out;
}

Result<std::unique_ptr<Known>> Known::open(const fs::path& folder) {
  const auto file = folder / "known";
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return tl::unexpected(errno_error("open " + file.string(), Errc::kUnavailable));
  std::unique_ptr<Known> known(new Known(folder, std::move(fd)));
  const auto text = read_file(file, 1024);
  const MutexLock lock(known->mutex_);
  if (text) known->read(*text);
  return known;
}

void Known::read(std::string_view line) {
  if (!line.ends_with('\n')) return;
  const auto words = split(line.substr(0, line.size() - 1), ' ');
  if (words.size() != 3) return;
  const auto epoch = parse_u64(words[1]), revision = parse_u64(words[2]);
  if (!is_name(words[0]) || !epoch || !revision || std::max(*epoch, *revision) > kNumberMax) return;
  owner_ = words[0];
  epoch_ = *epoch;
  revision_ = *revision;
}

Result<std::string> Known::why_old(Connection& connection) const {
  std::error_code ignored;
  if (fs::exists(folder_ / kRestoredMark, ignored))
    return std::string("it was loaded from a backup");
  const MutexLock lock(mutex_);
  // Rows of another owner are another site's: the tags of its instances tell that.
  if (owner_.empty() || HOSTLER_TRY(meta_value(connection, "owner")) != owner_)
    return std::string();
  const auto epoch = HOSTLER_TRY(meta_number(connection, "epoch"));
  const auto revision = HOSTLER_TRY(revision_of(connection));
  if (epoch >= epoch_ && revision >= revision_) return std::string();
  return "its rows end at revision " + std::to_string(revision) + " of epoch " +
         std::to_string(epoch) + ", and this folder knows revision " + std::to_string(revision_) +
         " of epoch " + std::to_string(epoch_);
}

Result<std::optional<std::uint64_t>> Known::doubts(Connection& connection) const {
  const MutexLock lock(mutex_);
  const auto mark = folder_ / kDoubtedMark;
  const auto epoch = HOSTLER_TRY(meta_number(connection, "epoch"));
  std::error_code ignored;
  if (fs::exists(mark, ignored)) {
    // Starts since then have raised the epoch. A torn file tells of no start since.
    const auto noted = parse_u64(HOSTLER_TRY(read_file(mark, 32)));
    return std::optional(std::min(noted.value_or(epoch), epoch));
  }
  if (epoch == 0 || HOSTLER_TRY(meta_value(connection, "owner")) == owner_)
    return std::optional<std::uint64_t>();
  HOSTLER_TRY(write_durably(mark, std::to_string(epoch)));
  return std::optional(epoch);
}

Result<void> Known::trust() const {
  HOSTLER_TRY(remove_mark(kLaterMark));
  return remove_mark(kDoubtedMark);
}

Result<void> Known::remove_mark(const char* name) const {
  std::error_code code;
  fs::remove(folder_ / name, code);
  if (code)
    return fail(Errc::kUnavailable, std::string("remove the file ") + name + ": " + code.message());
  return sync_folder(folder_);
}

void Known::note_epoch(std::uint64_t epoch) {
  const MutexLock lock(mutex_);
  epoch_ = std::min(std::max(epoch_, epoch), static_cast<std::uint64_t>(kNumberMax) - 1) + 1;
  (void)write_line();  // If it fails, the next start notices by the tags again.
}

Result<void> Known::note_later(std::uint64_t epoch) const {
  return write_durably(folder_ / kLaterMark, std::to_string(epoch));
}

bool Known::has_later() const { return read_mark(kLaterMark).has_value(); }

std::optional<std::uint64_t> Known::read_mark(const char* name) const {
  const auto text = read_file(folder_ / name, 32);
  return text ? parse_u64(*text) : std::nullopt;
}

Result<void> Known::accept(Connection& connection, Wall now) {
  std::uint64_t known_epoch = 0, known_revision = 0;
  {
    const MutexLock lock(mutex_);
    known_epoch = std::max(epoch_, read_mark(kLaterMark).value_or(0));
    known_revision = revision_;
  }
  auto done = in_one_transaction(connection, [&]() -> Result<void> {
    HOSTLER_TRY(lift_limits(connection));
    const auto seconds = HOSTLER_TRY(seconds_since_rows(connection, now));
    const auto rows_end = HOSTLER_TRY(revision_of(connection));
    const auto revision = std::max(known_revision, rows_end);
    // Each number that was given out since has a record of its own.
    const auto left_out = kNumbersLeftOut + kNumbersOfASecond * seconds + (revision - rows_end);
    const auto rows_epoch = HOSTLER_TRY(meta_number(connection, "epoch"));
    const auto epoch = std::clamp(known_epoch, rows_epoch, rows_epoch + model::kEpochsBehindMax);
    const auto work = HOSTLER_TRY(highest(connection, "last_work", "id", "work"));
    const auto instance = HOSTLER_TRY(highest(connection, "last_instance", "id", "instances"));
    const auto next_epoch = epoch + kEpochsLeftOut + seconds;
    HOSTLER_TRY(put_number(connection, "epoch", next_epoch));
    HOSTLER_TRY(put_number(connection, "restored_epoch", next_epoch + 1));
    HOSTLER_TRY(put_number(connection, "last_work", work + left_out));
    HOSTLER_TRY(put_number(connection, "last_instance", instance + left_out));
    HOSTLER_TRY(put_number(connection, "last_revision", revision));
    HOSTLER_TRY(add_left_out(connection, {work + 1, work + left_out}));
    return hold_work(connection);
  });
  connection.set_patience(Patience::kLong);
  return done;
}

Result<void> Known::begin(Connection& connection) {
  const MutexLock lock(mutex_);
  owner_ = HOSTLER_TRY(meta_value(connection, "owner"));
  epoch_ = HOSTLER_TRY(meta_number(connection, "epoch"));
  revision_ = HOSTLER_TRY(revision_of(connection));
  HOSTLER_TRY(write_line());
  return remove_mark(kRestoredMark);
}

Result<void> Known::write_line() {
  const auto file = folder_ / "known";
  const auto text = line();
  // Cut after it is written: on a full disk the line before stays.
  if (::pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return tl::unexpected(errno_error("write " + file.string(), Errc::kUnavailable));
  if (::ftruncate(fd_.get(), static_cast<off_t>(text.size())) != 0)
    return tl::unexpected(errno_error("cut " + file.string(), Errc::kUnavailable));
  if (::fdatasync(fd_.get()) != 0) abort_after_failed_sync(file);
  return {};
}

void Known::note(std::uint64_t revision) {
  const MutexLock lock(mutex_);
  if (revision <= revision_ || owner_.empty()) return;
  revision_ = revision;
  const auto text = line();  // as long as the one before
  // If it fails, an older state may go unnoticed; nothing else depends on it.
  (void)!::pwrite(fd_.get(), text.data(), text.size(), 0);
}

std::string Known::line() const {
  char numbers[48];
  std::snprintf(numbers, sizeof numbers, " %020llu %020llu\n",
                static_cast<unsigned long long>(epoch_),
                static_cast<unsigned long long>(revision_));
  return owner_ + numbers;
}

}  // namespace hostler::store
