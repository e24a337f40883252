#include "core/store/files/outputs.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>
#include <system_error>

#include "core/base/text.h"
#include "core/json/reader.h"
#include "core/json/writer.h"
#include "core/store/backoff.h"
#include "core/store/files/folders.h"

namespace hostler::store {
namespace {

constexpr std::size_t kAppendsBytesMax = std::size_t{16} << 20U;
constexpr auto kRefillAgain = std::chrono::seconds(1);
constexpr std::size_t kListBytesMax = std::size_t{64} << 20U;

constexpr const char *kList = "files", *kDiscarded = "discarded";
constexpr std::size_t kDiscardedBytesMax = 4096;

std::string to_json(const Discarded& by) {
  std::string text;
  json::Writer(text).begin_object().member("by", by.by).member("time_us", by.at.us).end_object();
  return text;
}

/// Of all files of an attempt, but the mark of one that was discarded.
struct Size {
  std::uint64_t bytes = 0, counted = 0;
};
Size size_below(const std::filesystem::path& folder) {
  Size sum;
  std::error_code code;
  std::filesystem::directory_iterator entries(folder, code);
  for (; !code && entries != std::filesystem::directory_iterator(); entries.increment(code)) {
    std::error_code failed;
    const auto size = entries->path().filename() == kDiscarded ? 0 : entries->file_size(failed);
    if (failed) continue;
    sum.bytes += size;
    sum.counted += counted(size);
  }
  return sum;
}

}  // namespace

Outputs::Outputs(std::filesystem::path folder, OutputLimits limits, Reserve* reserve)
    : folder_(std::move(folder)), limits_(limits), reserve_(reserve) {}

Result<std::unique_ptr<Outputs>> Outputs::open(const std::filesystem::path& folder,
                                               OutputLimits limits, Reserve* reserve) {
  HOSTLER_TRY(make_folder(folder));
  std::unique_ptr<Outputs> outputs(new Outputs(folder, limits, reserve));
  outputs->thread_ = std::thread([raw = outputs.get()] { raw->run(); });
  return outputs;
}

Outputs::~Outputs() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::filesystem::path Outputs::folder_of(model::AttemptId attempt) const {
  // 256 shards keep folders small.
  char shard[3];
  std::snprintf(shard, sizeof shard, "%02x", static_cast<unsigned>(attempt.work.value & 0xffU));
  return folder_ / shard / attempt.text();
}

std::filesystem::path Outputs::file_of(Key key) const {
  return folder_of(key.attempt) / std::to_string(key.stream);
}

// ---- any thread ---------------------------------------------------------------------------------

void Outputs::push(Item item) {
  {
    const MutexLock lock(mutex_);
    queue_.push_back(std::move(item));
  }
  wake_.notify_one();
}

void Outputs::append(model::AttemptId attempt, std::uint32_t stream, std::uint64_t offset,
                     std::string bytes, OnStored done) {
  push({.append = Append{.key = {attempt, stream},
                         .offset = offset,
                         .bytes = std::move(bytes),
                         .done = std::move(done)},
        .task = std::nullopt});
}

void Outputs::set_files(model::AttemptId attempt, std::vector<OutputFile> files, OnDone done) {
  if (auto checked = check_output_files(files, limits_.files_max); !checked)
    return push(
        {.append = std::nullopt,
         .task = ListTask{[checked]() -> Result<void> { return checked; }, std::move(done)}});
  push({.append = std::nullopt,
        .task = ListTask{
            [this, attempt, files = std::move(files)] { return write_list(attempt, files); },
            std::move(done)}});
}

Result<void> Outputs::remove(model::AttemptId attempt) {
  const auto folder = folder_of(attempt);
  const auto size = size_below(folder);
  std::error_code code;
  std::filesystem::remove_all(folder, code);
  if (code) return fail(Errc::kInternal, "remove " + folder.string() + ": " + code.message());
  use_.add(attempt.work, -static_cast<std::int64_t>(size.counted));
  return {};
}

Result<std::uint64_t> Outputs::discard(model::AttemptId attempt, const Discarded& by) {
  const auto folder = folder_of(attempt);
  const auto size = size_below(folder);
  HOSTLER_TRY(make_folder(folder));
  const bool again = HOSTLER_TRY(discarded(attempt)).has_value();
  const bool marked = again || write_durably(folder / kDiscarded, to_json(by));
  for (const auto& name : HOSTLER_TRY(names_in(folder))) {
    if (name == kDiscarded) continue;
    const auto file = folder / name;
    // The file may still be open here or at a reader: its bytes go at once.
    if (::truncate(file.c_str(), 0) != 0 || ::unlink(file.c_str()) != 0)
      return tl::unexpected(errno_error("remove " + file.string()));
  }
  // On a full disk there is room for the mark only now.
  if (!marked) HOSTLER_TRY(write_durably(folder / kDiscarded, to_json(by)));
  use_.add(attempt.work, -static_cast<std::int64_t>(size.counted));
  return size.bytes;
}

Result<std::optional<Discarded>> Outputs::discarded(model::AttemptId attempt) const {
  const auto text = read_file(folder_of(attempt) / kDiscarded, kDiscardedBytesMax);
  if (!text && text.error().code == Errc::kNotFound) return std::nullopt;
  if (!text) return tl::unexpected(text.error());
  Discarded out{"an unknown user", {}};
  // If the file is damaged, the output is gone all the same.
  (void)json::read_object(*text, {}, [&](json::Object& o) {
    o.need("by").text(out.by);
    o.need("time_us").integer(out.at.us, 0, INT64_MAX);
  });
  return out;
}

Result<StreamPart> Outputs::read(model::AttemptId attempt, std::uint32_t stream,
                                 std::uint64_t offset, std::size_t max) const {
  return read_stream(file_of({attempt, stream}), offset, max);
}

Result<std::uint64_t> Outputs::durable_end(model::AttemptId attempt, std::uint32_t stream) const {
  // Opening the file makes its bytes durable.
  return HOSTLER_TRY(StreamFile::open(file_of({attempt, stream}), /*bytes_max=*/0)).end();
}

std::uint64_t Outputs::kept(model::AttemptId attempt) const {
  return size_below(folder_of(attempt)).bytes;
}

Result<std::vector<OutputFile>> Outputs::files(model::AttemptId attempt) const {
  const auto text = read_file(folder_of(attempt) / kList, kListBytesMax);
  if (!text && text.error().code == Errc::kNotFound) return std::vector<OutputFile>{};
  if (!text) return tl::unexpected(text.error());
  return output_files_from_json(*text);
}

Result<UniqueFd> Outputs::open_file(model::AttemptId attempt, std::string_view path,
                                    bool partial) const {
  const auto list = HOSTLER_TRY(files(attempt));
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const OutputFile& file) { return file.path == path; });
  const auto name = "output file '" + printable(path, 80) + "' of " + attempt.text();
  if (found == list.end()) return fail(Errc::kNotFound, "there is no " + name);
  if (!found->problem.empty())
    return fail(Errc::kNotFound, name + " was not collected: " + found->problem);
  const auto stream = kFirstFileStream + static_cast<std::uint32_t>(found - list.begin());
  // An empty file is only in the list, so that it takes nothing of the disk.
  const std::filesystem::path file =
      found->size == 0 ? std::filesystem::path("/dev/null") : file_of({attempt, stream});
  UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!fd && (errno != ENOENT || partial))
    return tl::unexpected(errno_error("open " + name, Errc::kNotFound));
  if (fd && ::fstat(fd.get(), &info) != 0) return tl::unexpected(errno_error("look at " + name));
  const auto here = static_cast<std::uint64_t>(info.st_size);
  if (here < found->size && !partial)
    return fail(Errc::kConflict, "of " + name + " only " + std::to_string(here) + " of " +
                                     std::to_string(found->size) +
                                     " bytes are here; wait until the job has ended, or ask for a "
                                     "part (--partial)");
  return fd;
}

std::string Outputs::problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

// ---- its own thread -----------------------------------------------------------------------------

void Outputs::run() {
  pthread_setname_np(pthread_self(), "outputs");
  count_all();
  const MutexLock lock(mutex_);
  for (;;) {
    wait_for_work();
    if (queue_.empty()) return;
    std::optional<ListTask> task;
    const auto appends = take_group(task);
    const MutexUnlock unlocked(mutex_);
    write_appends(appends);
    if (task) {
      const auto result = retry_until_done(task->run);
      if (task->done) task->done(result);
    }
    close_least_used();
  }
}

void Outputs::wait_for_work() {
  const auto has_work = [this]() HOSTLER_REQUIRES(mutex_) {
    return stopping_ || !queue_.empty() || (reserve_ != nullptr && reserve_->is_low());
  };
  for (;;) {
    wake_.wait(mutex_, has_work);
    if (stopping_ || !queue_.empty()) return;
    {
      const MutexUnlock unlocked(mutex_);
      reserve_->refill();
    }
    wake_.wait_for(mutex_, kRefillAgain,
                   [this]() HOSTLER_REQUIRES(mutex_) { return stopping_ || !queue_.empty(); });
  }
}

/// A folder that cannot be read counts nothing.
void Outputs::count_all() {
  for (const auto& shard : names_in(folder_).value_or(std::vector<std::string>{}))
    for (const auto& name : names_in(folder_ / shard).value_or(std::vector<std::string>{}))
      if (const auto attempt = model::AttemptId::parse(name))
        use_.add(attempt->work,
                 static_cast<std::int64_t>(size_below(folder_ / shard / name).counted));
  use_.finish_start();
}

std::vector<Outputs::Append> Outputs::take_group(std::optional<ListTask>& task) {
  std::vector<Append> appends;
  std::size_t bytes = 0;
  std::set<Key> keys;  // Their files are all open until they are synced.
  while (!queue_.empty() && !task && bytes < kAppendsBytesMax && keys.size() < limits_.open_max) {
    auto& item = queue_.front();
    if (item.append) {
      bytes += item.append->bytes.size();
      keys.insert(item.append->key);
      appends.push_back(*std::move(item.append));
    } else {
      task = std::move(item.task);
    }
    queue_.pop_front();
  }
  return appends;
}

Result<void> Outputs::retry_until_done(const std::function<Result<void>()>& work) {
  Backoff backoff;
  for (;;) {
    auto result = must_wait() ? Result<void>(tl::unexpected(disk_full())) : work();
    const bool no_room = !result && result.error().code == Errc::kUnavailable;
    if (no_room && reserve_ != nullptr) reserve_->check();
    const MutexLock lock(mutex_);
    problem_ = no_room ? result.error().message : std::string();
    if (!no_room || stopping_) return result;
    wake_.wait_for(mutex_, backoff.next(), [this]() HOSTLER_REQUIRES(mutex_) { return stopping_; });
  }
}

void Outputs::write_appends(const std::vector<Append>& appends) {
  std::vector<Result<std::uint64_t>> results;
  results.reserve(appends.size());
  for (const auto& append : appends) {
    auto written = retry_until_done([&] { return write(append); });
    if (written)
      results.emplace_back(0);
    else
      results.emplace_back(tl::unexpected(std::move(written).error()));
  }
  for (std::size_t i = 0; i < appends.size(); ++i) {
    const auto open = open_.find(appends[i].key);
    if (!results[i] || open == open_.end()) continue;
    // One sync per file: the second one does nothing.
    const auto synced = open->second.file.sync();
    if (synced)
      results[i] = open->second.file.end();
    else
      results[i] = tl::unexpected(synced.error());
  }
  for (std::size_t i = 0; i < appends.size(); ++i)
    if (appends[i].done) appends[i].done(std::move(results[i]));
}

Result<void> Outputs::write(const Append& append) {
  auto* file = HOSTLER_TRY(stream_file(append.key));
  const auto before = file->counted();
  auto appended = file->append(append.offset, append.bytes);
  use_.add(append.key.attempt.work, static_cast<std::int64_t>(file->counted() - before));
  return appended;
}

Result<StreamFile*> Outputs::stream_file(Key key) {
  if (const auto open = open_.find(key); open != open_.end()) {
    uses_.splice(uses_.end(), uses_, open->second.use);
    return &open->second.file;
  }
  const auto limit = HOSTLER_TRY(bytes_max(key));
  auto file = HOSTLER_TRY(StreamFile::open(file_of(key), limit));
  uses_.push_back(key);
  return &open_.emplace(key, Open{std::move(file), std::prev(uses_.end())}).first->second.file;
}

Result<const FileSizes::Sizes*> Outputs::sizes_of(model::AttemptId attempt) {
  const auto* known = sizes_.find(attempt);
  std::error_code ignored;
  // The list goes when the output is discarded.
  if (known != nullptr && std::filesystem::exists(folder_of(attempt) / kList, ignored))
    return known;
  FileSizes::Sizes sizes;
  for (const auto& file : HOSTLER_TRY(files(attempt))) sizes.push_back(file.size);
  return sizes_.keep(attempt, std::move(sizes));
}

Result<std::uint64_t> Outputs::bytes_max(Key key) {
  if (key.stream < kFirstFileStream) return limits_.stream_bytes_max;
  const auto& sizes = *HOSTLER_TRY(sizes_of(key.attempt));
  const std::size_t number = key.stream - kFirstFileStream;
  if (number >= sizes.size())
    return fail(Errc::kMisbehaving, "stream " + std::to_string(key.stream) + " of " +
                                        key.attempt.text() + " is no output file of its list");
  return std::min(sizes[number], limits_.file_bytes_max);
}

void Outputs::close_least_used() {
  while (uses_.size() > limits_.open_max) {
    open_.erase(uses_.front());
    uses_.pop_front();
  }
}

Result<void> Outputs::write_list(model::AttemptId attempt, const std::vector<OutputFile>& list) {
  const auto folder = folder_of(attempt);
  std::error_code ignored;
  if (list.empty() || std::filesystem::exists(folder / kList, ignored)) return {};
  // It waited for room until somebody discarded it.
  if (std::filesystem::exists(folder / kDiscarded, ignored)) return {};
  HOSTLER_TRY(make_folder(folder));
  const auto text = to_json(list);
  HOSTLER_TRY(write_durably(folder / kList, text));
  use_.add(attempt.work, static_cast<std::int64_t>(counted(text.size())));
  return {};
}

}  // namespace hostler::store
