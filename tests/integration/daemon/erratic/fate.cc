#include "fate.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

namespace hostler::erratic {
namespace {

constexpr const char* kDeaths[] = {"segv", "abort", "exit", "kill"};
/// Held from the announcement of a death until the process ends: of two calls that are to die at
/// the same time one does, and it has come as far as it said.
std::mutex only_death;

constexpr const char* kMoments[] = {"before", "after", "emitted", "emitted"};

}  // namespace

Fate::Fate(const Settings& settings, Cloud& cloud, std::string function, std::string name)
    : cloud_(cloud), function_(std::move(function)), name_(std::move(name)) {
  const std::uint64_t number = cloud_.begin(function_, name_);
  if (std::filesystem::exists(settings.folder + "/well")) return;
  const fake::Chance chance(settings.seed);
  const std::string of = function_ + " " + name_;
  const double luck = chance.unit("luck", of, number);
  if (luck >= settings.deaths + settings.hangs) return;
  what_ = luck < settings.deaths ? "died" : "hung";
  const auto one_of = [&](std::int64_t n, const char* question) {
    return static_cast<std::size_t>(chance.between(0, n, question, of, number));
  };
  moment_ = kMoments[one_of(function_ == "create" ? 4 : 2, "when")];
  if (what_ == "died") {
    how_ = kDeaths[one_of(4, "how")];
  } else if (chance.happens(0.7, "ever", of, number)) {
    how_ = "ever";
  } else {
    how_ = "late";
    pause_ms_ = chance.between(1000, 3000, "pause", of, number);
  }
}

bool Fate::is_of(const std::string& moment) const { return !what_.empty() && moment == moment_; }

void Fate::announce(const std::string& moment) {
  if (!is_of(moment)) return;
  if (what_ == "died") only_death.lock();
  cloud_.note({what_, function_, name_, how_, moment_});
}

void Fate::strike(const std::string& moment) const {
  if (!is_of(moment)) return;
  if (what_ == "died") die(how_);
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(how_ == "ever" ? 60'000 : pause_ms_));
  } while (how_ == "ever");
}

void Fate::die(const std::string& how) {
  if (how == "kill") std::raise(SIGKILL);
  std::fputs("these are my last words\n", stderr);
  if (how == "segv") std::raise(SIGSEGV);
  if (how == "exit") std::exit(0);
  std::abort();
}

}  // namespace hostler::erratic
