#include "store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <hostler/driver.hpp>
#include <set>

#include "folder/files.h"
#include "folder/lock.h"
#include "installation.h"
#include "program.h"
#include "strays.h"

namespace hostler::local {
namespace {

using driver::Error;

constexpr std::time_t kGoneKeptSeconds = std::time_t{24} * 3600;

void make_file(const std::string& path) {
  const driver::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) throw_errno("create", path);
}

void check_root(const std::string& root) {
  struct stat st {};
  if (::lstat(root.c_str(), &st) != 0) throw_errno("inspect", root);
  const char* problem = !S_ISDIR(st.st_mode)                 ? "is not a folder"
                        : st.st_uid != ::geteuid()           ? "belongs to another user"
                        : (st.st_mode & (S_IWGRP | S_IWOTH)) ? "can be written by other users"
                                                             : nullptr;
  if (problem != nullptr) throw Error(HOSTLER_E_INVALID, "config.root: " + root + " " + problem);
}

/// How long to wait before `op` is checked again. Throws CANCELLED, and TIMEOUT at the deadline.
std::chrono::milliseconds slice_of_time_left(const hostler_op* op) {
  using namespace std::chrono;
  driver::check_cancelled(op);
  constexpr milliseconds kSlice(200);
  if (op->deadline_mono_ns == 0) return kSlice;
  const auto now = duration_cast<nanoseconds>(steady_clock::now().time_since_epoch());
  const nanoseconds left = nanoseconds(static_cast<std::int64_t>(op->deadline_mono_ns)) - now;
  if (left <= nanoseconds(0))
    throw Error(HOSTLER_E_TIMEOUT,
                "another process has held the lock of the root folder for too long");
  return std::min(kSlice, duration_cast<milliseconds>(left) + milliseconds(1));
}

}  // namespace

Draft::~Draft() {
  if (!lock_) return;
  try {
    folder_.remove();
  } catch (const std::exception&) {  // it is removed later, as an abandoned draft
  }
}

InstanceStore::InstanceStore(const Config& config)
    : root_(config.root), supervisor_(config.supervisor) {
  try {
    std::filesystem::create_directories(std::filesystem::path(root_).parent_path());
    // Jobs that run as other users must be able to enter the folder, but not list it.
    make_folder(root_, 0711);
    check_root(root_);
    make_folder(root_ + "/instances", 0711);
    make_folder(root_ + "/new", 0700);
    make_folder(root_ + "/gone", 0700);
    make_folder(root_ + "/kept", 0700);
    make_file(root_ + "/lock");
    forget_old_keys();
  } catch (const std::system_error& wrong) {
    throw Error(HOSTLER_E_INVALID, std::string("config.root: ") + wrong.what());
  }
}

std::vector<std::string> InstanceStore::ids() const {
  std::set<std::string> all;
  for (const char* where : {"/instances", "/kept"})
    for (std::string& id : names_in(root_ + where)) all.insert(std::move(id));
  return {all.begin(), all.end()};
}

InstanceFolder InstanceStore::folder(const std::string& id) const {
  return InstanceFolder(root_ + "/instances/" + (is_id(id) ? id : ".none"));
}

std::shared_ptr<const Record> InstanceStore::record(const std::string& id) {
  const std::optional<std::string> text = read_file(folder(id).record());
  const std::lock_guard lock(cache_mutex_);
  if (!text) {
    cache_.erase(id);
    return nullptr;
  }
  std::shared_ptr<const Record>& cached = cache_[id];
  if (!cached) cached = std::make_shared<Record>(Record::parse(*text));
  return cached;
}

std::vector<std::shared_ptr<const Record>> InstanceStore::records() {
  std::map<std::string, std::shared_ptr<const Record>> there;
  for (const std::string& id : ids()) there[id] = cached(id);
  std::vector<std::shared_ptr<const Record>> all;
  for (auto& [id, known_record] : there) {
    if (!known_record) known_record = is_gone(id) ? record(id) : known(id);
    if (known_record) all.push_back(known_record);
  }
  const std::lock_guard lock(cache_mutex_);
  std::erase_if(cache_, [&](const auto& entry) { return there.count(entry.first) == 0; });
  return all;
}

std::shared_ptr<const Record> InstanceStore::known(const std::string& id) {
  if (auto found = record(id)) return found;
  const std::optional<std::string> text = read_file(copy_of(id).record());
  return text ? std::make_shared<const Record>(Record::parse(*text)) : nullptr;
}

InstanceFolder InstanceStore::copy_of(const std::string& id) const {
  return InstanceFolder(root_ + "/kept/" + (is_id(id) ? id : ".none"));
}

void InstanceStore::keep_copy(const std::string& id, const std::string& record,
                              const std::string& tags) const {
  const InstanceFolder copy = copy_of(id);
  if (read_file(copy.tags()) == tags && is_there(copy.record())) return;
  make_folder(copy.path(), 0700);
  write_file(copy.tags(), tags);
  write_file(copy.record(), record);
}

void InstanceStore::give_up(const std::string& id) const {
  const InstanceFolder copy = copy_of(id);
  if (is_there(copy.record())) copy.give_order({Wanted::kDestroyed, false});
}

std::optional<Found> InstanceStore::inspect_remains(const std::string& id) const {
  const InstanceFolder copy = copy_of(id);
  if (!is_there(copy.path())) return std::nullopt;
  const std::optional<std::string> record = read_file(copy.record());
  const std::optional<std::string> tags = read_file(copy.tags());
  const bool given_up = copy.order().wanted == Wanted::kDestroyed;
  const std::string path = folder(id).path();
  // Destroyed in the usual way it leaves no process.
  bool any = record && tags && (given_up || !is_gone(id));
  any = any && (given_up ? kill_strays(path) : has_processes(path));
  if (!any) {
    copy.remove();
    return std::nullopt;
  }
  Found found;
  found.record = std::make_shared<Record>(Record::parse(*record));
  found.tags = parse_tags(*tags);
  found.condition.state = given_up ? HOSTLER_STATE_TERMINATING : HOSTLER_STATE_RUNNING;
  found.condition.reason = "its folder was removed, its last process has not ended";
  return found;
}

std::shared_ptr<const Record> InstanceStore::cached(const std::string& id) {
  const std::lock_guard lock(cache_mutex_);
  const auto found = cache_.find(id);
  return found == cache_.end() ? nullptr : found->second;
}

std::optional<Found> InstanceStore::inspect(const std::string& id, hostler_op* op) {
  const InstanceFolder folder = this->folder(id);
  try {
    return inspect_folder(folder, id, op);
  } catch (const std::system_error&) {
    throw;  // reading failed; it may succeed later
  } catch (const std::runtime_error&) {
    // The content is damaged: the machine lost power when it was written, so no process of the
    // instance runs. Any other damage must not be repaired here.
    const bool has_folder = is_there(folder.path());
    if (has_folder && !try_lock(folder.lock())) throw;
    if (has_folder)
      folder.remove();
    else
      copy_of(id).remove();
    return std::nullopt;
  }
}

std::optional<Found> InstanceStore::inspect_folder(const InstanceFolder& folder,
                                                   const std::string& id, hostler_op* op) {
  for (;;) {
    Found found;
    found.record = record(id);
    if (!found.record) {
      complete_removal(folder, op);
      return inspect_remains(id);
    }
    const std::optional<Evidence> evidence = examine(folder);
    const std::optional<std::string> tags = read_file(folder.tags());
    if (!is_there(folder.record())) continue;  // another process has just removed it
    if (!evidence || !tags) throw std::runtime_error(folder.path() + " lacks files");
    found.tags = parse_tags(*tags);
    keep_copy(id, found.record->text(), *tags);
    found.state = evidence->state;
    found.condition = assess(*evidence);
    if (found.condition.remedy == Remedy::kStart) start(folder, found.state.generation, op);
    if (found.condition.remedy == Remedy::kRemove) {
      try {
        finish_removal(folder);
      } catch (const std::system_error& problem) {
        found.condition.reason = problem.what();  // report it, and continue with the others
      }
      if (!is_there(folder.path())) return inspect_remains(id);
    }
    return found;
  }
}

/// The last steps of a removal, which are fast. Also completes a removal that was interrupted.
void InstanceStore::complete_removal(const InstanceFolder& folder, hostler_op* op) const {
  for (int tries = 0; is_there(folder.path()) && tries < 200; ++tries) {
    finish_removal(folder);
    if (is_there(folder.path())) driver::pause(op, std::chrono::milliseconds(5));
  }
}

/// nullopt if the folder disappears meanwhile. Reads the files again after it has checked the lock:
/// otherwise an instance that gets a new supervisor in between would seem to have none.
std::optional<Evidence> InstanceStore::examine(const InstanceFolder& folder) const {
  for (;;) {
    Evidence evidence{folder.order(), folder.state(), false, false};
    evidence.locked = is_locked(folder.lock());
    evidence.machine_runs = evidence.state.machine.runs();
    const Order order = folder.order();
    const State state = folder.state();
    if (!is_there(folder.record())) return std::nullopt;
    if (order.wanted == evidence.order.wanted && state.phase == evidence.state.phase &&
        state.generation == evidence.state.generation)
      return evidence;
  }
}

/// Does nothing if a supervisor is running, which removes the folder, or if processes are left.
void InstanceStore::finish_removal(const InstanceFolder& folder) const {
  const std::optional<Lock> lock = try_lock(folder.lock());
  if (!lock && is_there(folder.lock())) return;
  const State state = folder.state();
  if (state.machine.runs()) return;
  if (state.confinement == "subreapers" && kill_strays(folder.path())) return;  // try again later
  folder.remove();
}

void InstanceStore::drop_stale_drafts(hostler_op* op) {
  const std::string drafts = root_ + "/new";
  if (names_in(drafts).empty()) return;
  const RootLock root(*this, op);
  for (const std::string& name : names_in(drafts)) {
    const InstanceFolder draft(drafts + "/" + name);
    const std::optional<Lock> lock = try_lock(draft.lock());
    if (lock || !is_there(draft.lock())) draft.remove();
  }
}

bool InstanceStore::is_gone(const std::string& id) const { return is_there(root_ + "/gone/" + id); }

void InstanceStore::remember_gone(const std::string& id) const { make_file(root_ + "/gone/" + id); }

void InstanceStore::forget_old_keys() const {
  for (const std::string& name : names_in(root_ + "/gone")) {
    const std::string path = root_ + "/gone/" + name;
    struct stat st {};
    if (::lstat(path.c_str(), &st) == 0 && st.st_mtime + kGoneKeptSeconds < std::time(nullptr))
      ::unlink(path.c_str());
  }
}

InstanceStore::RootLock::RootLock(InstanceStore& store, hostler_op* op) : store_(store) {
  {
    std::unique_lock turn(store.turn_mutex_);
    while (!store.turn_over_.wait_for(turn, slice_of_time_left(op),
                                      [&] { return !store.turn_taken_; })) {
    }
    store.turn_taken_ = true;
  }
  try {
    while (!file_) {
      const auto slice = static_cast<int>(slice_of_time_left(op).count());
      auto lock = lock_within(store.root_ + "/lock", slice);
      if (lock) file_.emplace(std::move(*lock));
    }
  } catch (...) {
    end_turn();
    throw;
  }
}

InstanceStore::RootLock::~RootLock() {
  file_.reset();
  end_turn();
}

void InstanceStore::RootLock::end_turn() {
  const std::lock_guard turn(store_.turn_mutex_);
  store_.turn_taken_ = false;
  store_.turn_over_.notify_one();
}

Draft InstanceStore::draft(const std::string& id, hostler_op* op) {
  static std::atomic<unsigned> counter{0};
  const std::string path =
      root_ + "/new/" + id + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  const RootLock root(*this, op);  // otherwise others could remove the draft before it is locked
  make_folder(path, 0711);
  const InstanceFolder folder(path);
  make_file(folder.lock());
  std::optional<Lock> lock = try_lock(folder.lock());
  if (!lock)
    throw Error(HOSTLER_E_INTERNAL, "another process has the lock of the new folder " + path);
  return {path, std::move(*lock)};
}

bool InstanceStore::publish(Draft& draft, const std::string& id) {
  const std::string path = folder(id).path();
  if (::rename(draft.folder().path().c_str(), path.c_str()) != 0) {
    if (errno == EEXIST || errno == ENOTEMPTY) return false;
    throw_errno("publish", path);
  }
  draft.folder_ = InstanceFolder(path);
  draft.lock_.reset();
  const auto record = read_file(draft.folder_.record());
  const auto tags = read_file(draft.folder_.tags());
  if (record && tags) keep_copy(id, *record, *tags);
  return true;
}

void InstanceStore::start(const InstanceFolder& folder, std::int64_t generation, hostler_op* op) {
  std::string problem;
  try {
    const int status =
        run_program({supervisor_, folder.path(), std::to_string(generation)}, op, kSupervisor);
    if (status == 0) return;
    problem = std::string(kSupervisor) + " ended with status " + std::to_string(status);
  } catch (const Error& wrong) {
    driver::check_cancelled(op);
    problem = wrong.what();
  }
  const std::optional<Lock> lock = try_lock(folder.lock());
  if (!lock) return;  // it runs already, or the folder was removed
  State state = folder.state();
  if (state.generation != generation) return;
  state.phase = Phase::kFailed;
  state.reason = problem;
  folder.set_state(state);
}

}  // namespace hostler::local
