#include "core/pushed/pusher.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::pushed {

Pusher::Pusher(model::PusherRecord record, Mono now, Duration max_age)
    : record_(std::move(record)), term_end_(now + max_age) {}

Result<bool> Pusher::take(const std::string& principal, const model::Push& push, Mono now,
                          Duration max_age) {
  const bool is_same_principal = principal == record_.principal;
  if (!is_same_principal && !record_.principal.empty() && now < term_end_)
    return fail(Errc::kConflict, printable(record_.principal, 60) +
                                     " pushes for this pool; push again in " +
                                     format_duration(term_end_ - now) + ", if it has stopped then");
  const bool is_same_session = is_same_principal && push.session == record_.session;
  if (is_same_principal && std::ranges::count(record_.superseded, push.session) > 0)
    return fail(Errc::kConflict, "session '" + printable(push.session, 60) +
                                     "' is superseded by session '" +
                                     printable(record_.session, 60) +
                                     "': stop this pusher, or start it with a new session");
  if (is_same_session && sequence_ && push.sequence <= *sequence_)
    return fail(Errc::kConflict, "push " + std::to_string(push.sequence) + " of session '" +
                                     printable(push.session, 60) + "' is too late: push " +
                                     std::to_string(*sequence_) +
                                     " was taken, and each needs a larger sequence");
  if (!is_same_session) begin_session(principal, push.session);
  sequence_ = push.sequence;
  term_end_ = now + max_age;
  return !is_same_session;
}

void Pusher::begin_session(const std::string& principal, const std::string& session) {
  auto& superseded = record_.superseded;
  if (principal == record_.principal)
    superseded.insert(superseded.begin(), record_.session);
  else
    superseded.clear();  // Another principal may choose the same names.
  superseded.resize(std::min(superseded.size(), model::kSupersededMax));
  record_.principal = principal;
  record_.session = session;
}

}  // namespace hostler::pushed
