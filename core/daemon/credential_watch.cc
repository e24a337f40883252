#include "core/daemon/credential_watch.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "core/base/command_output.h"
#include "core/base/spawn.h"
#include "core/fleet/step.h"

namespace hostler::daemon {
namespace {

using std::chrono::seconds;

/// After a read that failed, and before one that is asked for. Each pause in a row is longer, but
/// none is longer than the interval of the source.
constexpr Duration kReadPause = seconds(5), kReadPauseMax = seconds(60);

Result<std::string> read_now(const config::CredentialSource& source, int stop_fd) {
  if (source.command.empty()) return config::read_credentials(source, true);
  const auto printed =
      command_output(source.command, {source.timeout, config::kCredentialsMax, stop_fd});
  if (!printed) return tl::unexpected(printed.error());
  return config::to_credentials(*printed, "the output of " + source.command[0]);
}

}  // namespace

CredentialWatch::CredentialWatch(config::CredentialSource source, std::optional<std::string> known,
                                 Renewed renewed)
    : source_(std::move(source)), renewed_(std::move(renewed)), last_(std::move(known)) {
  if (last_) pause_ = source_.interval;
  if (auto pipe = make_pipe()) stop_ = *std::move(pipe);
  thread_ = std::thread([this] { run(); });
}

CredentialWatch::~CredentialWatch() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  stop_.write.reset();
  woken_.notify_one();
  thread_.join();
}

void CredentialWatch::read_soon() {
  {
    const MutexLock lock(mutex_);
    wanted_ = true;
  }
  woken_.notify_one();
}

std::optional<CredentialWatch::Turn> CredentialWatch::wait_for_turn() {
  const Duration least = std::min(pause_, fleet::backoff(asked_ + 1, kReadPause, kReadPauseMax));
  const MutexLock lock(mutex_);
  woken_.wait_for(mutex_, least, [this]() HOSTLER_REQUIRES(mutex_) { return stopping_; });
  woken_.wait_for(mutex_, pause_ - least,
                  [this]() HOSTLER_REQUIRES(mutex_) { return stopping_ || wanted_; });
  if (stopping_) return std::nullopt;
  return std::exchange(wanted_, false) ? Turn::kAsked : Turn::kInterval;
}

void CredentialWatch::run() {
  pthread_setname_np(pthread_self(), "credentials");
  while (const auto turn = wait_for_turn()) {
    asked_ = *turn == Turn::kAsked ? asked_ + 1 : 0;
    const auto read = read_now(source_, stop_.read.get());
    const bool is_news = !read || failures_ > 0 || last_ != *read;
    failures_ = read ? 0 : failures_ + 1;
    pause_ = source_.interval;
    if (!read) pause_ = std::min(pause_, fleet::backoff(failures_, kReadPause, kReadPauseMax));
    if (is_news || asked_ > 0) tell(read);
    if (read) last_ = *read;
  }
}

void CredentialWatch::tell(const Result<std::string>& read) {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;  // A command that was ended early has failed for no other reason.
  }
  renewed_(read);
}

bool refuses_credentials(const model::CloudError& error) {
  return error.cls == model::CloudErrorClass::kAuth &&
         (error.scope & model::scope::kOperation) == 0;
}

void CredentialWatches::watch(const std::map<std::string, Watched>& sets) {
  drop_all_but(sets);
  for (const auto& [set, watched] : sets) {
    const auto& source = watched.source;
    if (source.file.empty() && source.command.empty()) continue;
    std::optional<std::string> known;
    if (source.command.empty()) known = watched.known;
    const MutexLock lock(mutex_);
    if (const auto found = watches_.find(set); found != watches_.end()) {
      found->second->read_soon();
      continue;
    }
    watches_.emplace(
        set, std::make_unique<CredentialWatch>(
                 source, std::move(known),
                 [this, set = set](const Result<std::string>& read) { renewed_(set, read); }));
  }
}

/// Keeps commands that are the same: they are run again. A file has just been read with the
/// configuration. Those that are dropped have ended when this returns, so that none tells anything
/// after its successor.
void CredentialWatches::drop_all_but(const std::map<std::string, Watched>& sets) {
  std::vector<std::unique_ptr<CredentialWatch>> dropped;
  const MutexLock lock(mutex_);
  for (auto at = watches_.begin(); at != watches_.end();) {
    const auto wanted = sets.find(at->first);
    const auto& source = at->second->source();
    const bool stays =
        wanted != sets.end() && wanted->second.source == source && !source.command.empty();
    if (!stays) dropped.push_back(std::move(at->second));
    at = stays ? std::next(at) : watches_.erase(at);
  }
}

void CredentialWatches::failed(const std::string& set, const model::CloudError& error) {
  if (!refuses_credentials(error)) return;
  const MutexLock lock(mutex_);
  if (const auto found = watches_.find(set); found != watches_.end()) found->second->read_soon();
}

}  // namespace hostler::daemon
