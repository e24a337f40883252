#include "core/sources/ring_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <tuple>

#include "core/log/log.h"

namespace hostler::sources {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRecordsAtOnce = 32'768;  // 1 MiB

Result<void> write_at(const UniqueFd& fd, const void* bytes, std::size_t size, std::uint64_t at) {
  const char* data = static_cast<const char*>(bytes);
  for (std::size_t done = 0; done < size;) {
    const ssize_t n = ::pwrite(fd.get(), data + done, size - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return tl::unexpected(errno_error("write past samples", Errc::kUnavailable));
    done += static_cast<std::size_t>(n);
  }
  return {};
}

/// How much there is; less than `size` at the end of the file.
Result<std::size_t> read_at(const UniqueFd& fd, void* bytes, std::size_t size, std::uint64_t at) {
  char* data = static_cast<char*>(bytes);
  for (std::size_t done = 0; done < size;) {
    const ssize_t n = ::pread(fd.get(), data + done, size - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected(errno_error("read past samples", Errc::kUnavailable));
    if (n == 0) return done;
    done += static_cast<std::size_t>(n);
  }
  return size;
}

/// O_NOFOLLOW: a link may lead out of the state folder. O_NONBLOCK: a FIFO would never open.
UniqueFd open_ring(const fs::path& path, int flags) {
  return UniqueFd(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600));
}

/// Why it cannot be used; empty: it can.
std::string problem_of(const UniqueFd& fd, const std::string& site) {
  if (!fd) return std::strerror(errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return "it is no regular file";
  if (static_cast<std::uint64_t>(info.st_size) > ring::kFileMax) return "it has more than 64 MiB";
  ring::Header header;
  const auto size = read_at(fd, &header, sizeof header, 0);
  if (!size) return size.error().message;
  if (*size != sizeof header || !ring::is_header_of(header, site))
    return "it is damaged, or of another site or version";
  return "";
}

/// read_table() has cleared what is damaged.
bool is_used(const ring::Series& series) { return series.metric[0] != '\0'; }

/// A folder that has something in it is moved away.
Result<UniqueFd> begin_anew(const fs::path& path, const std::string& site) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    (void)::rename(path.c_str(), (path.string() + ".old").c_str());
  UniqueFd fd = open_ring(path, O_CREAT | O_EXCL);
  if (!fd) return tl::unexpected(errno_error("make " + path.string(), Errc::kUnavailable));
  const ring::Header header = ring::make_header(site);
  HOSTLER_TRY(write_at(fd, &header, sizeof header, 0));
  return fd;
}

}  // namespace

Result<RingFile> RingFile::open(const fs::path& path, const std::string& site) {
  UniqueFd fd = open_ring(path, 0);
  const bool is_missing = !fd && errno == ENOENT;
  const std::string problem = problem_of(fd, site);
  if (!problem.empty()) {
    if (!is_missing)
      log::warn("sources", path.string() + " is begun anew, without past samples: " + problem);
    fd = HOSTLER_TRY(begin_anew(path, site));
  }
  RingFile ring(std::move(fd));
  HOSTLER_TRY(ring.read_table());
  return ring;
}

Result<void> RingFile::read_table() {
  table_.resize(ring::kSeriesMax);
  used_.resize(ring::kSeriesMax);
  HOSTLER_TRY(read_at(fd_, table_.data(), table_.size() * sizeof(ring::Series), ring::kSeriesAt));
  for (std::uint32_t i = 0; i < table_.size(); ++i) {
    ring::Series& series = table_[i];
    const bool is_new =
        is_whole(series) &&
        places_.emplace(std::pair(series.metric.data(), series.key.data()), i).second;
    if (!is_new) series = {};
  }
  return {};
}

Result<std::vector<model::MetricPast>> RingFile::load(Wall since) {
  std::vector<ring::Record> block(kRecordsAtOnce), found;
  std::uint64_t at = ring::kRecordsAt;
  for (std::size_t count = block.size(); count == block.size() && at < ring::kRecordsEnd;) {
    const auto size =
        std::min<std::uint64_t>(block.size() * sizeof(ring::Record), ring::kRecordsEnd - at);
    count = HOSTLER_TRY(read_at(fd_, block.data(), size, at)) / sizeof(ring::Record);
    for (std::size_t i = 0; i < count; ++i, at += sizeof(ring::Record)) {
      const ring::Record& record = block[i];
      if (record.series >= table_.size()) continue;
      const ring::Series& series = table_[record.series];
      if (!is_used(series) || !is_whole(record, at, series)) continue;
      next_ = std::max(next_, record.number + 1);
      used_[record.series] = std::max(used_[record.series], record.number);
      if (record.taken_us >= since.us) found.push_back(record);
    }
  }
  return past_of(std::move(found));
}

std::vector<model::MetricPast> RingFile::past_of(std::vector<ring::Record> records) const {
  std::sort(records.begin(), records.end(), [](const ring::Record& a, const ring::Record& b) {
    return std::tie(a.series, a.taken_us, a.number) < std::tie(b.series, b.taken_us, b.number);
  });
  std::vector<model::MetricPast> all;
  for (auto from = records.begin(); from != records.end();) {
    const auto to = std::find_if(
        from, records.end(), [&](const ring::Record& one) { return one.series != from->series; });
    const auto newest =
        std::max(from, to - std::min<std::ptrdiff_t>(to - from, kSamplesOfSeriesMax));
    const ring::Series& series = table_[from->series];
    model::MetricPast past{.metric = series.metric.data(), .samples = {}, .source = series.source};
    for (auto one = newest; one != to; ++one)
      past.samples.push_back({series.key.data(), one->value, Wall{one->taken_us}});
    all.push_back(std::move(past));
    from = to;
  }
  return all;
}

/// A label can have thousands of new values at each reading, so places are sorted once for many.
std::uint32_t RingFile::free_place() {
  for (;;) {
    if (oldest_.empty()) {
      for (std::uint32_t i = 0; i < used_.size(); ++i) oldest_.emplace_back(used_[i], i);
      std::sort(oldest_.rbegin(), oldest_.rend());
    }
    const auto [number, place] = oldest_.back();
    oldest_.pop_back();
    if (used_[place] == number) return place;
  }
}

Result<std::optional<std::uint32_t>> RingFile::place_of(const model::MetricReading& reading,
                                                        const std::string& key) {
  std::pair<std::string, std::string> name(reading.metric, key);
  const auto known = places_.find(name);
  const bool is_known = known != places_.end();
  if (is_known && table_[known->second].source == reading.source) return known->second;
  const auto wanted = ring::make_series(reading.metric, key, reading.source);
  if (!wanted) return std::nullopt;
  const std::uint32_t place = is_known ? known->second : free_place();
  ring::Series& series = table_[place];
  places_.erase({series.metric.data(), series.key.data()});
  series = {};
  HOSTLER_TRY(write_at(fd_, &*wanted, sizeof *wanted, ring::place_of_series(place)));
  series = *wanted;
  places_.emplace(std::move(name), place);
  return place;
}

Result<void> RingFile::append(const std::vector<model::MetricReading>& readings) {
  for (const model::MetricReading& reading : readings) {
    for (const model::MetricSample& sample : reading.samples) {
      const auto place = HOSTLER_TRY(place_of(reading, sample.key));
      if (!place) continue;
      used_[*place] = next_;
      pending_.push_back(ring::make_record(next_, *place, table_[*place], sample));
      ++next_;
      // The end of the circle, too: what is written at once is in one piece.
      if (pending_.size() == kRecordsAtOnce || next_ % ring::kRecordsMax == 0) HOSTLER_TRY(flush());
    }
  }
  return flush();
}

Result<void> RingFile::flush() {
  const auto records = std::exchange(pending_, {});
  if (records.empty()) return {};
  return write_at(fd_, records.data(), records.size() * sizeof(ring::Record),
                  ring::place_of_record(records.front().number));
}

}  // namespace hostler::sources
