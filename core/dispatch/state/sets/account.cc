#include "core/dispatch/state/sets/account.h"

#include <utility>

#include "core/base/assert.h"

namespace hostler::dispatch {
namespace {

/// An empty text is not known, so it is no difference.
bool differ(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && a != b;
}

}  // namespace

bool Account::agrees(const model::SetInfo& reported) const {
  return !damaged_ && !differ(stored_.account, reported.account_id) &&
         !differ(stored_.region, reported.region);
}

bool Account::use(const std::string& name, const model::SetInfo& reported, Mono now) {
  HOSTLER_ASSERT(!damaged_, "a damaged account is used only after an admin has accepted one");
  if (unaccepted_) answers_from_ = now;
  unaccepted_.reset();
  model::SetAccount known = stored_;  // What is reported is newer.
  if (!reported.account_id.empty()) known.account = reported.account_id;
  if (!reported.region.empty()) known.region = reported.region;
  if (!known.account.empty() || !known.region.empty()) known.set = name;
  return std::exchange(stored_, known) != known;
}

bool Account::refuse(model::SetInfo reported) {
  HOSTLER_ASSERT(!agrees(reported), "an account that agrees is not refused");
  const bool is_news = !unaccepted_ || unaccepted_->account_id != reported.account_id ||
                       unaccepted_->region != reported.region;
  unaccepted_ = std::move(reported);
  return is_news;
}

model::SetInfo Account::accept() {
  HOSTLER_ASSERT(unaccepted_, "only what was refused is accepted");
  damaged_ = false;
  return *unaccepted_;
}

}  // namespace hostler::dispatch
