#include "core/daemon/console_keys.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace hostler::daemon {
namespace {

constexpr std::uint64_t kConsoleBytesMax = std::uint64_t{256} << 10;
constexpr std::size_t kConsolesMax = 1000;
constexpr Duration kPauseMin = std::chrono::seconds(5), kPauseMax = std::chrono::minutes(1);

Result<bool> answer_of(ssh::Printed printed) {
  if (printed == ssh::Printed::kNothing)
    return fail(Errc::kUnavailable, "its console shows no complete block of host keys yet");
  return printed == ssh::Printed::kThisKey;
}

/// The text of the boot, from its first byte on: of what came later nobody knows who wrote it.
std::string_view beginning_of(const model::ConsoleText& text) {
  if (text.offset != 0) return {};
  return std::string_view(text.bytes).substr(0, text.gap.value_or(text.bytes.size()));
}

}  // namespace

ConsoleKeys::Console& ConsoleKeys::entry(const model::HostTarget& target) {
  if (consoles_.size() >= kConsolesMax && !consoles_.contains(target.instance))
    consoles_.erase(
        std::ranges::min_element(consoles_, {}, [](const auto& one) { return one.second.next; }));
  Console& console = consoles_[target.instance];
  if (console.provider_id != target.provider_id) console = Console();
  console.provider_id = target.provider_id;
  return console;
}

void ConsoleKeys::ask(const model::HostTarget& target, const crypto::SshPublicKey& key,
                      const Answer& answer) {
  if (!target.is_untouched || target.identity.verified_by)
    return answer(fail(Errc::kUnavailable,
                       "its driver knows no host keys, and its console is not believed: it may "
                       "have run work before"));
  {
    MutexLock lock(mutex_);
    Console& console = entry(target);
    const auto printed = ssh::judge_printed(console.blocks, key);
    const Mono now = clock_();
    if (printed != ssh::Printed::kNothing || console.reading || now < console.next) {
      lock.unlock();
      return answer(answer_of(printed));
    }
    console.pause = std::clamp(console.pause * 2, kPauseMin, kPauseMax);
    console.next = now + console.pause;
    console.reading = true;
  }
  read_(target.set, {.id = target.provider_id, .offset = 0, .bytes_max = kConsoleBytesMax},
        [self = shared_from_this(), target, key,
         answer](const model::CloudResult<model::ConsoleText>& text) {
          self->came(target, key, answer, text);
        });
}

void ConsoleKeys::came(const model::HostTarget& target, const crypto::SshPublicKey& key,
                       const Answer& answer, const model::CloudResult<model::ConsoleText>& text) {
  std::vector<ssh::PrintedBlock> blocks;
  if (text) blocks = ssh::find_printed_keys(beginning_of(*text));
  const auto printed = ssh::judge_printed(blocks, key);
  {
    const MutexLock lock(mutex_);
    Console& console = entry(target);
    console.reading = false;
    console.blocks = std::move(blocks);
    if (printed == ssh::Printed::kThisKey) consoles_.erase(target.instance);
  }
  if (!text) return answer(fail(Errc::kUnavailable, "its console: " + text.error().message));
  if (text->offset != 0)
    return answer(fail(Errc::kUnavailable,
                       "the beginning of its console cannot be read, and only what the machine "
                       "prints there as it boots is believed"));
  answer(answer_of(printed));
}

}  // namespace hostler::daemon
