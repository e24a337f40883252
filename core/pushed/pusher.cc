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
  const bool is_new_principal = principal != record_.principal;
  if (is_new_principal && !record_.principal.empty() && now < term_end_)
    return fail(Errc::kConflict, record_.principal + " pushes for this pool; push again in " +
                                     format_duration(term_end_ - now) +
                                     ", if it has stopped by then");
  auto& superseded = record_.superseded;
  const std::string session = printable(push.session, 60);
  if (!is_new_principal && std::ranges::find(superseded, push.session) != superseded.end())
    return fail(Errc::kConflict, "session '" + session + "' is superseded by session '" +
                                     printable(record_.session, 60) +
                                     "': stop this pusher, or start it with a new session");
  const bool is_new_session = is_new_principal || push.session != record_.session;
  if (!is_new_session && push.sequence <= sequence_)
    return fail(Errc::kConflict, "push " + std::to_string(push.sequence) + " of session '" +
                                     session + "' comes after push " + std::to_string(sequence_) +
                                     ": each push needs a larger sequence");
  if (is_new_principal) superseded.clear();
  if (is_new_session && !is_new_principal) {
    superseded.insert(superseded.begin(), record_.session);
    superseded.resize(std::min(superseded.size(), model::kSupersededMax));
  }
  record_.principal = principal;
  record_.session = push.session;
  sequence_ = push.sequence;
  term_end_ = now + max_age;
  return is_new_session;
}

}  // namespace hostler::pushed
