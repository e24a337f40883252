#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/model/metric.h"
#include "core/sources/ring_format.h"

namespace hostler::sources {

inline constexpr std::size_t kSamplesOfSeriesMax = 10'000;

/// The last samples of all series of a site, in a file of 64 MiB at most. Of one thread; blocks on
/// the disk. It is not synced: a crash of the machine costs the last samples, and nothing else.
class RingFile {
 public:
  /// Opens the file, or begins a new one (0600). One that is damaged, of another site or version,
  /// or no file at all is replaced: the reason is logged. Errors: no file can be made there.
  static Result<RingFile> open(const std::filesystem::path& path, const std::string& site);

  /// Samples that were taken at `since` or later, of each series the newest 10,000, oldest first.
  /// What is damaged is left out. Call it once, before the first append().
  [[nodiscard]] Result<std::vector<model::MetricPast>> load(Wall since);

  /// A name that is too long is left out. Errors: of the disk; a part may have been written.
  Result<void> append(const std::vector<model::MetricReading>& readings);

 private:
  explicit RingFile(UniqueFd fd) : fd_(std::move(fd)) {}

  Result<void> read_table();
  [[nodiscard]] std::vector<model::MetricPast> past_of(std::vector<ring::Record> records) const;
  /// In the table; it may be that of the series that was written least recently. Samples of another
  /// source are given up. nullopt: the names do not fit.
  Result<std::optional<std::uint32_t>> place_of(const model::MetricReading& reading,
                                                const std::string& key);
  [[nodiscard]] std::uint32_t free_place();
  Result<void> flush();

  UniqueFd fd_;
  std::vector<ring::Series> table_;
  std::vector<std::uint64_t> used_;  ///< The number of the last record of each place; 0: none.
  /// Number and place as they were some time ago, the oldest one last.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> oldest_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> places_;  ///< By metric and key.
  std::uint64_t next_ = 1;                                               ///< Number of a record.
  std::vector<ring::Record> pending_;  ///< Records before next_ that are not written yet.
};

}  // namespace hostler::sources
