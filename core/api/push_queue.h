#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>

#include "core/api/service.h"
#include "core/base/mutex.h"

/// Private to core/api: which push goes to the service next.
namespace hostler::api {

/// One push of a pool is handled at a time, so a pusher that is impatient cannot fill the queue of
/// the loop. Of several of one principal that wait, the newest stays; each other is answered with
/// kConflict, and has no effect. Others cannot displace it: only the service knows whose pool it
/// is. Any thread.
class PushQueue : public std::enable_shared_from_this<PushQueue> {
 public:
  /// The service must outlive the last answer.
  void add(Service& service, const Principal& who, const std::string& pool, model::Push push,
           Answer<model::PushAnswer> answer);

 private:
  struct Waiting {
    Principal who;
    model::Push push;
    Answer<model::PushAnswer> answer;
  };
  /// Hands one over, whose turn it is, and the next one once that is answered.
  void run(Service& service, const std::string& pool, Waiting one);
  void go_on(Service& service, const std::string& pool);

  Mutex mutex_;
  /// By pool, as long as a push of it is with the service: who waits, the first one first.
  std::map<std::string, std::list<Waiting>> waiting_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::api
