#include "core/dispatch/handlers/boot_consoles.h"

#include <algorithm>
#include <chrono>

#include "core/base/text.h"

namespace hostler::dispatch {
namespace {

constexpr std::uint64_t kConsoleBytesMax = 4096;
constexpr Duration kConsolePatience = std::chrono::seconds(10);
constexpr std::ptrdiff_t kAtOnce = 4;

gates::GateQuery query_of(const Set& set) {
  return {.set = set.name, .op = model::CloudOp::kConsole};
}

/// Without what terminals take for commands: "\e[0;32m".
std::string without_commands(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\x1b' || at + 1 >= text.size() || text[at + 1] != '[') {
      out += text[at];
      continue;
    }
    for (at += 2; at < text.size() && text[at] >= 0x20 && text[at] < 0x40;) ++at;
  }
  return out;
}

}  // namespace

std::string end_of_console(std::string_view bytes, std::size_t max) {
  std::string all;
  for (const std::string_view line : split(bytes, '\n')) {
    std::string shown = printable(without_commands(line), 6 * bytes.size());
    const auto begin = shown.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    shown.erase(shown.find_last_not_of(' ') + 1);
    all.append(all.empty() ? "" : " | ").append(shown, begin);
  }
  if (all.size() > max) all.erase(0, all.size() - max);
  while (!all.empty() && (static_cast<unsigned char>(all[0]) & 0xc0U) == 0x80U) all.erase(0, 1);
  return all;
}

bool BootConsoles::has_room(const Set& set) const {
  return std::ranges::count_if(hosts_.all(), [&](const auto& entry) {
           const Host& host = entry.second;
           return host.console && host.console->under_way && host.instance.record.set == set.name;
         }) < kAtOnce;
}

void BootConsoles::ask(Host& host, Now now) {
  const auto& record = host.instance.record;
  const Set& set = sets_.at(host.instance.set);
  const bool exists = record.state == model::InstanceState::kTerminating &&
                      record.reason_code != model::Reason::kGoneAlready &&
                      !record.provider_id.empty();
  // A boot may be judged again after a jump of the wall clock.
  const bool was_destroyed = host.calls.destroys() || record.destroy_tries != 0;
  if (!exists || was_destroyed || host.console || !set.is_open() || !set.info.has_console ||
      !has_room(set))
    return;
  if (gates_.held_by_crashes(query_of(set), now.mono) != nullptr) return;
  gates_.began(query_of(set), now.mono);
  host.console = ConsoleAsked{now.mono + kConsolePatience};
  recorder_.effect(
      ConsoleCall{set.name,
                  record.id,
                  {.id = record.provider_id, .offset = 0, .bytes_max = kConsoleBytesMax},
                  kConsolePatience});
}

void BootConsoles::destroy(Host& host, Now now) {
  const bool waits = host.console && host.console->under_way && now.mono < host.console->until;
  if (!waits) return calls_.destroy(host, now);
  host.instance.deadline = host.console->until;
  hosts_.schedule(host);
}

void BootConsoles::on(const ConsoleRead& event, Now now) {
  Host* host = hosts_.change(event.instance);
  if (host == nullptr || !host->console || !host->console->under_way) return;
  const bool waits = now.mono < host->console->until;
  host->console->under_way = false;
  const model::CloudError* error = event.result ? nullptr : &event.result.error();
  gates_.ended(query_of(sets_.at(host->instance.set)), error, now);
  if (event.result) keep(*host, *event.result, now);
  if (waits) calls_.destroy(*host, now);
}

void BootConsoles::keep(const Host& host, const model::ConsoleText& text, Now now) {
  std::string_view end = text.bytes;
  if (end.size() > kConsoleBytesMax) end.remove_prefix(end.size() - kConsoleBytesMax);
  std::string shown = end_of_console(end, kConsoleBytesMax);
  if (shown.empty()) return;
  const std::string id = host.id().text();
  recorder_.record("cloud", id, model::Event::kConsole, "", std::move(shown), now);
  gates_.tell_of_boots(id, "hostler why " + id + " shows an admin the end of its console");
}

void BootConsoles::forget(const Host& host, Now now) {
  if (host.console && host.console->under_way)
    gates_.abandoned(query_of(sets_.at(host.instance.set)), now);
}

}  // namespace hostler::dispatch
