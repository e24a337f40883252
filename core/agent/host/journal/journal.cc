#include "core/agent/host/journal/journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "core/agent/model_fields.h"
#include "core/agent/protocol.h"
#include "core/agent/wire.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

using wire::fields;
using wire::Reader;
using wire::Writer;

// Header: u32 magic, u32 length, u32 checksum. Behind a torn record, the reader searches the magic.
constexpr std::size_t kHead = 12;
constexpr std::uint32_t kMagic = 0x6c6a6168;
constexpr std::uint32_t kRecordMax = 65536;
constexpr std::size_t kBufferSize = std::size_t{2} * kRecordMax;  // holds any record
constexpr std::string_view kPrefix = "journal.";

template <class V>
void fields(V& v, typename V::template Ref<Begin> m) {
  fields(v, m.attempt);
  v.number("sequence", m.sequence);
  v.text("boot_id", m.boot_id, 128);
  v.number("slot", m.slot);
  v.number("uid", m.uid);
  v.flag("has_script", m.has_script);
  v.number("output_head_max", m.output_head_max);
  v.number("output_tail_max", m.output_tail_max);
  v.added(m.cards.empty() && m.files.empty(), [&] {
    const auto text = [](auto& visitor, auto& item) { visitor.text("", item, kCardBytesMax); };
    v.list("cards", m.cards, model::kCardsMax, text);
    v.list("files", m.files, kCardFilesMax, text);
  });
}
template <class V>
void fields(V& v, typename V::template Ref<End> m) {
  fields(v, m.attempt);
  fields(v, m.end);
  v.flag("spooled", m.spooled);
}
template <class V>
void fields(V& v, typename V::template Ref<Forget> m) {
  fields(v, m.attempt);
}
template <class V>
void fields(V& v, typename V::template Ref<Opened> m) {
  v.text("state_id", m.state_id, 128);
  v.number("last_sequence", m.last_sequence);
}

std::uint32_t checksum(std::string_view body) {
  return static_cast<std::uint32_t>(fnv1a(body) ^ (fnv1a(body) >> 32U));
}

std::uint32_t u32_at(std::string_view bytes) {
  std::uint32_t value = 0;
  Reader("", bytes.substr(0, 4)).number("", value);
  return value;
}

template <class T>
std::optional<Record> read_body(std::string_view body) {
  T record;
  Reader reader("", body);
  fields(reader, record);
  reader.end();
  if (!reader.ok()) return std::nullopt;
  return record;
}

std::optional<Record> decode(std::string_view body) {
  const auto type = static_cast<std::size_t>(static_cast<unsigned char>(body[0]));
  body.remove_prefix(1);
  switch (type) {
    case 0:
      return read_body<Begin>(body);
    case 1:
      return read_body<End>(body);
    case 2:
      return read_body<Forget>(body);
    case 3:
      return read_body<Opened>(body);
    default:
      return std::nullopt;
  }
}

std::string name_of(std::uint64_t number) { return std::string(kPrefix) + std::to_string(number); }

}  // namespace

template <class T>
std::string to_record(const T& record) {
  std::string body(1, static_cast<char>(Record(record).index()));
  Writer writer("", body);
  fields(writer, record);
  std::string out;
  Writer head("", out);
  head.number("", kMagic);
  head.number("", static_cast<std::uint32_t>(body.size()));
  head.number("", checksum(body));
  return out + body;
}
template std::string to_record(const Begin&);
template std::string to_record(const End&);
template std::string to_record(const Forget&);
template std::string to_record(const Opened&);

Result<void> append_end(int journal, const End& end) {
  return write_all(journal, to_record(end), "journal");
}

void Journal::Unmap::operator()(char* buffer) const { ::munmap(buffer, kBufferSize); }

Result<void> Journal::map_buffer() {
  void* const pages =
      ::mmap(nullptr, kBufferSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return tl::unexpected(os_error("mmap"));
  // Shims are forked all the time, and after each fork the kernel copies every shared page that is
  // written to. MADV_DONTFORK keeps this buffer out of that.
  (void)::madvise(pages, kBufferSize, MADV_DONTFORK);
  buffer_.reset(static_cast<char*>(pages));
  return {};
}

Result<void> Journal::open(const std::function<void(Record&&)>& apply) {
  HOSTLER_TRY(map_buffer());
  DIR* dir = ::opendir(".");
  if (dir == nullptr) return tl::unexpected(os_error("open the state folder"));
  std::vector<std::uint64_t> numbers;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(kPrefix)) continue;
    if (const auto number = parse_u64(name.substr(kPrefix.size()))) numbers.push_back(*number);
  }
  ::closedir(dir);
  if (numbers.empty()) numbers.push_back(1);
  for (const std::uint64_t number : numbers) {
    UniqueFd fd(::open(name_of(number).c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
    if (!fd) return tl::unexpected(os_error("open " + name_of(number)));
    files_[number].fd = std::move(fd);
  }
  read_new(apply);
  return {};
}

Result<void> Journal::append(std::string_view record) { return write_all(fd(), record, "journal"); }

void Journal::read_new(const std::function<void(Record&&)>& apply) {
  for (auto& [number, file] : files_) read_file(file, apply);
}

std::size_t Journal::take_records(File& file, std::string_view bytes,
                                  const std::function<void(Record&&)>& apply) {
  std::string_view rest = bytes;
  while (rest.size() >= kHead) {
    const std::uint32_t length = u32_at(rest.substr(4));
    const bool has_header = u32_at(rest) == kMagic && length > 0 && length <= kRecordMax;
    if (has_header && rest.size() < kHead + length) break;
    const std::string_view body = has_header ? rest.substr(kHead, length) : std::string_view();
    std::optional<Record> record;
    if (has_header && checksum(body) == u32_at(rest.substr(8))) record = decode(body);
    // A crash of the host or a full disk can leave a torn record. Search for the next complete one.
    const std::size_t used = record ? kHead + length : 1;
    rest.remove_prefix(used);
    file.read += used;
    if (record) apply(*std::move(record));
  }
  return rest.size();
}

void Journal::read_file(File& file, const std::function<void(Record&&)>& apply) {
  char* const buffer = buffer_.get();
  for (std::size_t have = 0;;) {
    const std::size_t room = kBufferSize - have;
    const ssize_t n =
        ::pread(file.fd.get(), buffer + have, room, static_cast<off_t>(file.read + have));
    const std::size_t end = have + static_cast<std::size_t>(n < 0 ? 0 : n);
    have = take_records(file, {buffer, end}, apply);
    if (n < static_cast<ssize_t>(room)) return;  // end of file
    std::memmove(buffer, buffer + end - have, have);
  }
}

Result<void> Journal::rotate(std::string_view records) {
  const std::uint64_t next = number() + 1;
  UniqueFd fd(
      ::open(name_of(next).c_str(), O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return tl::unexpected(os_error("create " + name_of(next)));
  if (auto written = write_all(fd.get(), records, name_of(next)); !written) {
    (void)::unlink(name_of(next).c_str());
    return written;
  }
  // The older files may be removed soon.
  (void)::fdatasync(fd.get());
  files_[next] = File{std::move(fd), records.size()};
  return {};
}

void Journal::drop_before(std::uint64_t number) {
  while (files_.size() > 1 && files_.begin()->first < number) {
    (void)::unlink(name_of(files_.begin()->first).c_str());
    files_.erase(files_.begin());
  }
}

void Journal::sync() {
  for (auto& [number, file] : files_) (void)::fdatasync(file.fd.get());
}

}  // namespace hostler::agent
