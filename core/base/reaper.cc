#include "core/base/reaper.h"

#include <pthread.h>
#include <sys/wait.h>

#include <cerrno>
#include <map>
#include <system_error>
#include <thread>

#include "core/base/mutex.h"

namespace hostler {
namespace {

struct Unreaped {
  Mutex mutex;
  std::map<std::string, std::size_t> counts HOSTLER_GUARDED_BY(mutex);
};

Unreaped& all() {
  static auto* const kAll = new Unreaped;  // Never destroyed: threads may outlive main().
  return *kAll;
}

void reap(pid_t child, const std::string& name) {
  pthread_setname_np(pthread_self(), "reaper");
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  Unreaped& known = all();
  const MutexLock lock(known.mutex);
  const auto count = known.counts.find(name);
  if (--count->second == 0) known.counts.erase(count);
}

}  // namespace

void reap_later(pid_t child, const std::string& name) {
  Unreaped& known = all();
  const MutexLock lock(known.mutex);
  ++known.counts[name];
  try {
    std::thread(reap, child, name).detach();
  } catch (const std::system_error&) {
    // It is counted for ever, so there are no more than the limit of these.
  }
}

std::size_t unreaped(const std::string& name) {
  Unreaped& known = all();
  const MutexLock lock(known.mutex);
  const auto count = known.counts.find(name);
  return count == known.counts.end() ? 0 : count->second;
}

}  // namespace hostler
