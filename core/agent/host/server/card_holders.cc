#include "core/agent/host/server/card_holders.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/agent/host/system/os.h"
#include "core/base/files.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

using model::CardGuard;

/// In the state folder, which is the working directory: the files of the last Guard, one a line.
constexpr const char* kListFile = "card_files";
constexpr std::size_t kListBytesMax = kFrameMax;

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

void CardHolders::open() {
  guard_.open(best_to_try());
  // The next reading may fail, or take long: until then the files of the last server are guarded.
  std::vector<std::string> files;
  if (const auto kept = read_file(kListFile, kListBytesMax); kept)
    for (const std::string_view file : split(*kept, '\n'))
      if (!file.empty()) files.emplace_back(file);
  if (!files.empty()) (void)guard_.set_files(files);
}

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

/// Where no attempt runs there is nobody to guard from: the host may be lent, whole.
Result<void> CardHolders::share_out() {
  std::erase_if(older_, [&](const model::AttemptId& id) {
    const auto* attempt = log_.find(id);
    return attempt == nullptr || attempt->phase() != Phase::kRunning;
  });
  if (!older_.empty()) return {};  // They may use any card.
  const auto all = holders();
  if (!all.empty()) return guard_.share_out(all);
  guard_.give_back();
  return {};
}

std::map<std::string, model::AttemptId> CardHolders::by_name() const {
  std::map<std::string, model::AttemptId> out;
  for (const auto& [id, attempt] : log_.all())
    if (attempt.phase() == Phase::kRunning)
      for (const auto* names : {&attempt.begin.cards, &attempt.begin.files})
        for (const std::string& name : *names) out[name] = id;
  return out;
}

std::vector<CardHolder> CardHolders::holders() const {
  std::vector<CardHolder> out;
  for (const auto& [id, attempt] : log_.all())
    if (attempt.phase() == Phase::kRunning && !older_.contains(id))
      out.push_back(holder_of(attempt.begin));
  return out;
}

void CardHolders::set_files(std::vector<std::string> files) {
  // A card that is not listed any more is still its attempt's alone.
  for (const CardHolder& holder : holders())
    for (const std::string& file : holder.files)
      if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  if (!guard_.is_used() && !files.empty())
    for (const auto& [id, attempt] : log_.all())
      if (attempt.phase() == Phase::kRunning) older_.insert(id);
  if (guard_.is_used() || !files.empty()) keep(files);
  for (const std::string& file : guard_.set_files(files))
    note(file + " is no character device: the guard of cards leaves it out");
  if (!guard_.is_used() || guard() == CardGuard::kNone) return;
  if (guard() == CardGuard::kOwners) return on_removed();
  for (const CardHolder& holder : holders())
    if (const auto confined = guard_.confine(holder); !confined)
      note("slot " + std::to_string(holder.slot) + ": " + confined.error().message);
}

void CardHolders::keep(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files)
    if (file.find('\n') == std::string::npos) text += file + "\n";
  if (text == read_small(kListFile, kListBytesMax)) return;
  if (const auto kept = write_file(kListFile, text, 0600); !kept) note(kept.error().message);
}

Result<void> CardHolders::admit(const Begin& begin) {
  if (need_cgroups()) return guard_.confine(holder_of(begin));
  if (shares_out()) return share_out();
  return {};
}

void CardHolders::on_removed() {
  if (!shares_out()) return;
  if (const auto shared = share_out(); !shared) note(shared.error().message);
}

}  // namespace hostler::agent
