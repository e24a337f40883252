#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/metric.h"

/// The bytes of `metrics.ring`: a header, a table of series, and records in a circle. All parts
/// have a fixed size and a checksum, so that each can be damaged by itself. In the byte order of
/// the machine: on another one the magic number differs, and the file is begun anew. Pure.
namespace hostler::sources::ring {

inline constexpr std::size_t kMetricMax = 63, kKeyMax = 255, kSiteMax = 255;
inline constexpr std::uint32_t kSeriesMax = 16'384;
inline constexpr std::uint64_t kFileMax = std::uint64_t{64} << 20U;

struct Header {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t checksum = 0;  ///< Of `site`.
  std::array<char, kSiteMax + 1> site{};
};

/// A metric, or one label value of it.
struct Series {
  std::uint64_t source = 0;  ///< model::MetricReading::source.
  std::uint32_t checksum = 0;
  std::array<char, kMetricMax + 1> metric{};  ///< Ends with NUL.
  std::array<char, kKeyMax + 1> key{};
  std::uint32_t unused = 0;
};

struct Record {
  std::uint64_t number = 0;  ///< Increases with each record; says its place in the circle.
  std::int64_t taken_us = 0;
  double value = 0;
  std::uint32_t series = 0;    ///< Its place in the table.
  std::uint32_t checksum = 0;  ///< Of all above and the names of the series.
};

inline constexpr std::uint64_t kSeriesAt = 4096;
inline constexpr std::uint64_t kRecordsAt = kSeriesAt + kSeriesMax * sizeof(Series);
inline constexpr std::uint64_t kRecordsMax = (kFileMax - kRecordsAt) / sizeof(Record);
inline constexpr std::uint64_t kRecordsEnd = kRecordsAt + kRecordsMax * sizeof(Record);
static_assert(sizeof(Header) <= kSeriesAt && sizeof(Record) == 32 && sizeof(Series) == 336);

inline std::uint64_t place_of_series(std::uint32_t index) {
  return kSeriesAt + index * sizeof(Series);
}
inline std::uint64_t place_of_record(std::uint64_t number) {
  return kRecordsAt + number % kRecordsMax * sizeof(Record);
}

/// `site` and the names are not longer than their maximum, and have no NUL.
Header make_header(std::string_view site);
bool is_header_of(const Header& header, std::string_view site);

/// nullopt: a name is too long or has a NUL; such a series is not kept.
std::optional<Series> make_series(std::string_view metric, std::string_view key,
                                  std::uint64_t source);
/// False: it is damaged, or the place was never used.
bool is_whole(const Series& series);

Record make_record(std::uint64_t number, std::uint32_t index, const Series& series,
                   const model::MetricSample& sample);
/// False: it is damaged, not at its place, or of a series whose place another one has taken.
bool is_whole(const Record& record, std::uint64_t place, const Series& series);

}  // namespace hostler::sources::ring
