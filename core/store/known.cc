#include "core/store/known.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "core/base/text.h"
#include "core/store/files/folders.h"
#include "core/store/meta.h"

namespace hostler::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNumbersLeftOut = 1'000'000, kEpochsLeftOut = 1'000;

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

}  // namespace

Result<Known> Known::open(const fs::path& folder) {
  const auto file = folder / "known";
  Known known(folder, UniqueFd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)));
  if (!known.fd_) return tl::unexpected(errno_error("open " + file.string(), Errc::kUnavailable));
  const auto text = read_file(file, 1024);
  if (!text || !text->ends_with('\n')) return known;
  const auto words = split(std::string_view(*text).substr(0, text->size() - 1), ' ');
  if (words.size() != 3) return known;
  const auto epoch = parse_u64(words[1]), revision = parse_u64(words[2]);
  if (!is_name(words[0]) || !epoch || !revision) return known;
  known.owner_ = words[0];
  known.epoch_ = *epoch;
  known.revision_ = *revision;
  return known;
}

Result<std::string> Known::why_old(Connection& connection) const {
  std::error_code ignored;
  if (fs::exists(folder_ / kRestoredMark, ignored))
    return std::string("it was loaded from a backup");
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

Result<void> Known::accept(Connection& connection) {
  return in_one_transaction(connection, [&]() -> Result<void> {
    const auto epoch = std::max(epoch_, HOSTLER_TRY(meta_number(connection, "epoch")));
    HOSTLER_TRY(put_meta(connection, "epoch", std::to_string(epoch + kEpochsLeftOut)));
    const auto work = HOSTLER_TRY(highest(connection, "last_work", "id", "work"));
    HOSTLER_TRY(put_meta(connection, "last_work", std::to_string(work + kNumbersLeftOut)));
    const auto instance = HOSTLER_TRY(highest(connection, "last_instance", "id", "instances"));
    HOSTLER_TRY(put_meta(connection, "last_instance", std::to_string(instance + kNumbersLeftOut)));
    const auto revision = std::max(revision_, HOSTLER_TRY(revision_of(connection)));
    return put_meta(connection, "last_revision", std::to_string(revision));
  });
}

Result<void> Known::begin(Connection& connection) {
  owner_ = HOSTLER_TRY(meta_value(connection, "owner"));
  epoch_ = HOSTLER_TRY(meta_number(connection, "epoch"));
  revision_ = HOSTLER_TRY(revision_of(connection));
  const auto file = folder_ / "known";
  const auto text = line();
  // Cut after it is written: on a full disk the line before stays.
  if (::pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return tl::unexpected(errno_error("write " + file.string(), Errc::kUnavailable));
  if (::ftruncate(fd_.get(), static_cast<off_t>(text.size())) != 0)
    return tl::unexpected(errno_error("cut " + file.string(), Errc::kUnavailable));
  if (::fdatasync(fd_.get()) != 0) abort_after_failed_sync(file);
  std::error_code code;
  fs::remove(folder_ / kRestoredMark, code);
  if (code) return fail(Errc::kUnavailable, "remove the file restored: " + code.message());
  return sync_folder(folder_);
}

void Known::note(std::uint64_t revision) {
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
