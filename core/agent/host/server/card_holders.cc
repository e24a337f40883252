#include "core/agent/host/server/card_holders.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/agent/host/system/os.h"

namespace hostler::agent {
namespace {

using model::CardGuard;

/// For the administrator: it goes to server.log.
void note(const std::string& text) {
  (void)write_all(STDERR_FILENO, "hostler-agent: " + text + "\n", "stderr");
}

CardGuard best_to_try() {
  const char* const name = ::getenv("HOSTLER_CARD_GUARD");
  for (const CardGuard guard : {CardGuard::kNone, CardGuard::kOwners, CardGuard::kCgroup1})
    if (name != nullptr && std::string_view(name) == model::to_string(guard)) return guard;
  return CardGuard::kBpf;
}

CardHolder holder_of(const Begin& begin) { return {begin.slot, begin.uid, begin.files}; }

}  // namespace

void CardHolders::open() { guard_.open(best_to_try()); }

void CardHolders::close() {
  for (const auto& [id, attempt] : log_.all())
    if (attempt.phase() == Phase::kRunning) return;
  guard_.give_back();
}

CardGuard CardHolders::guard() const {
  return guard_.kind() == CardGuard::kOwners && !own_uids_ ? CardGuard::kNone : guard_.kind();
}

bool CardHolders::need_cgroups() const {
  return guard_.is_used() && guard() >= CardGuard::kCgroup1;
}

bool CardHolders::shares_out() const { return guard_.is_used() && guard() == CardGuard::kOwners; }

std::map<std::string, model::AttemptId> CardHolders::by_card() const {
  std::map<std::string, model::AttemptId> out;
  for (const auto& [id, attempt] : log_.all())
    if (attempt.phase() == Phase::kRunning)
      for (const std::string& card : attempt.begin.cards) out[card] = id;
  return out;
}

std::vector<CardHolder> CardHolders::holders() const {
  std::vector<CardHolder> out;
  for (const auto& [id, attempt] : log_.all())
    if (attempt.phase() == Phase::kRunning) out.push_back(holder_of(attempt.begin));
  return out;
}

void CardHolders::set_files(std::vector<std::string> files) {
  // A card that is not listed any more is still its attempt's alone.
  for (const CardHolder& holder : holders())
    for (const std::string& file : holder.files)
      if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  for (const std::string& file : guard_.set_files(files))
    note(file + " is no character device: the guard of cards leaves it out");
  if (guard() == CardGuard::kOwners) {
    if (const auto shared = guard_.share_out(holders()); !shared) note(shared.error().message);
    return;
  }
  if (guard() == CardGuard::kNone) return;
  for (const CardHolder& holder : holders())
    if (const auto confined = guard_.confine(holder); !confined)
      note("slot " + std::to_string(holder.slot) + ": " + confined.error().message);
}

Result<void> CardHolders::admit(const Begin& begin) {
  if (need_cgroups()) return guard_.confine(holder_of(begin));
  if (shares_out()) return guard_.share_out(holders());
  return {};
}

void CardHolders::on_removed() {
  if (!shares_out()) return;
  if (const auto shared = guard_.share_out(holders()); !shared) note(shared.error().message);
}

}  // namespace hostler::agent
