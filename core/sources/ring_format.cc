#include "core/sources/ring_format.h"

#include <zlib.h>

#include <cstring>

namespace hostler::sources::ring {
namespace {

constexpr std::uint64_t kMagic = 0x676e'6972'6c74'7368;  // "hstlring"
constexpr std::uint32_t kVersion = 2;

std::uint32_t checksum_of(std::uint32_t seed, const void* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(
      ::crc32(seed, static_cast<const Bytef*>(bytes), static_cast<uInt>(size)));
}

/// Over whole arrays: what follows the NUL is zeros.
std::uint32_t checksum_of(const Series& series) {
  const std::uint32_t source = checksum_of(1, &series.source, sizeof series.source);
  const std::uint32_t metric = checksum_of(source, series.metric.data(), series.metric.size());
  return checksum_of(metric, series.key.data(), series.key.size());
}

std::uint32_t checksum_of(const Record& record, const Series& series) {
  return checksum_of(series.checksum, &record, offsetof(Record, checksum));
}

template <std::size_t N>
bool is_text(const std::array<char, N>& text) {
  return text.back() == '\0';
}

}  // namespace

Header make_header(std::string_view site) {
  Header header{kMagic, kVersion, 0, {}};
  site.copy(header.site.data(), kSiteMax);
  header.checksum = checksum_of(1, header.site.data(), header.site.size());
  return header;
}

bool is_header_of(const Header& header, std::string_view site) {
  const Header wanted = make_header(site);
  return std::memcmp(&header, &wanted, sizeof header) == 0;
}

std::optional<Series> make_series(std::string_view metric, std::string_view key,
                                  std::uint64_t source) {
  const bool has_nul = metric.find('\0') != metric.npos || key.find('\0') != key.npos;
  if (metric.empty() || metric.size() > kMetricMax || key.size() > kKeyMax || has_nul)
    return std::nullopt;
  Series series;
  series.source = source;
  metric.copy(series.metric.data(), kMetricMax);
  key.copy(series.key.data(), kKeyMax);
  series.checksum = checksum_of(series);
  return series;
}

bool is_whole(const Series& series) {
  return is_text(series.metric) && is_text(series.key) && series.metric[0] != '\0' &&
         series.checksum == checksum_of(series);
}

Record make_record(std::uint64_t number, std::uint32_t index, const Series& series,
                   const model::MetricSample& sample) {
  Record record{number, sample.taken.us, sample.value, index, 0};
  record.checksum = checksum_of(record, series);
  return record;
}

bool is_whole(const Record& record, std::uint64_t place, const Series& series) {
  return place_of_record(record.number) == place && record.checksum == checksum_of(record, series);
}

}  // namespace hostler::sources::ring
