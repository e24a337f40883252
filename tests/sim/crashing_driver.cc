#include "tests/sim/crashing_driver.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace hostler::sim {
namespace {

constexpr std::uint32_t kDeathsAllowed = 2;

Duration held_back(std::uint32_t deaths) {
  return std::min<Duration>(1h * (std::int64_t{1} << std::min(deaths - kDeathsAllowed, 10U)), 24h);
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

CrashingDriver::CrashingDriver(std::uint64_t seed, Complain complain)
    : complain_(std::move(complain)),
      random_(seed ^ 0xc7a5),
      bad_type_(random_.chance(0.7) ? "small" : "") {}

std::string CrashingDriver::call_of(const dispatch::Effect& effect) {
  using namespace dispatch;
  return std::visit(
      Overloaded{[](const OpenSet&) { return std::string("open"); },
                 [](const ListCall&) { return std::string("list"); },
                 [](const LookUpCall&) { return std::string("list"); },
                 [](const TagsCall&) { return std::string("set_tags"); },
                 [](const PricesCall&) { return std::string("other"); },
                 [](const ConsoleCall&) { return std::string("console"); },
                 [](const ImagesCall&) { return std::string("images"); },
                 [](const OfferingsCall&) { return std::string("offerings"); },
                 [](const LeftoversCall&) { return std::string("leftovers"); },
                 [](const DestroyLeftoverCall&) { return std::string("destroy_leftover"); },
                 [](const PowerCall& call) { return std::string(call.on ? "start" : "stop"); },
                 [](const DestroyCall& call) { return "destroy " + call.instance.text(); },
                 [this](const CreateCall& call) {
                   return creates_[call.instance] = "create " + call.request->type.name + " zone " +
                                                    call.request->zone + " pool " +
                                                    call.request->tags.at(model::tag::kPool);
                 },
                 [](const auto&) { return std::string(); }},
      effect);
}

void CrashingDriver::check(const dispatch::Outbox& outbox, Now now) {
  for (const auto& effect : outbox.effects) {
    const auto found = deaths_.find(call_of(effect));
    if (found == deaths_.end()) continue;
    const auto& [call, deaths] = *found;
    if (deaths.known >= kDeathsAllowed && now.mono < deaths.until)
      complain_("the driver is asked again: " + call + ", in which it died " +
                std::to_string(deaths.known) + " times");
  }
}

bool CrashingDriver::dies_in(const std::string& call, bool faults) {
  if (!bad_type_.empty() && call.starts_with("create " + bad_type_ + " ")) return true;
  return faults && random_.chance(0.04);
}

model::CloudError CrashingDriver::error(const std::string& call) const {
  model::CloudError out;
  out.cls = model::CloudErrorClass::kTransient;
  out.message = "the driver's process was ended";
  out.outcome_unknown = true;
  out.crash = {.driver = file_, .call = call, .ending = "was ended", .output = {}};
  return out;
}

Duration CrashingDriver::delay() {
  const bool at_once = random_.chance(0.5);
  return 1ms * static_cast<std::int64_t>(random_.below(at_once ? 3 : 500));
}

dispatch::Event CrashingDriver::report(const dispatch::Effect& effect, model::CloudError error,
                                       Mono sent) {
  using namespace dispatch;
  const auto failed = tl::unexpected(error);
  return std::visit(
      Overloaded{[&](const OpenSet& call) -> Event {
                   return SetOpened{call.set, failed};
                 },
                 [&](const ListCall& call) -> Event {
                   return SetListed{call.set, sent, failed};
                 },
                 [&](const LookUpCall& call) -> Event {
                   return InstancesLookedUp{call.set, sent, call.instances, failed};
                 },
                 [&](const PricesCall& call) -> Event {
                   return PricesFetched{call.set, call.type.name, call.number, failed};
                 },
                 [&](const ConsoleCall& call) -> Event {
                   return ConsoleRead{call.instance, failed};
                 },
                 [&](const ImagesCall& call) -> Event {
                   return ImagesFetched{call.set, call.query, call.number, failed};
                 },
                 [&](const OfferingsCall& call) -> Event {
                   return OfferingsFetched{call.set, call.number, failed};
                 },
                 [&](const LeftoversCall& call) -> Event {
                   return LeftoversListed{call.set, call.number, failed};
                 },
                 [&](const DestroyLeftoverCall& call) -> Event {
                   return LeftoverDestroyed{call.set, call.request.type, call.request.id, error};
                 },
                 [&](const CreateCall& call) -> Event {
                   return CreateEnded{call.instance, error};
                 },
                 [&](const DestroyCall& call) -> Event {
                   return DestroyEnded{call.instance, error};
                 },
                 [&](const TagsCall& call) -> Event {
                   return TagsEnded{call.instance, error};
                 },
                 [&](const PowerCall& call) -> Event {
                   return PowerEnded{call.instance, error};
                 },
                 [&](const auto&) -> Event { return DiskChanged{}; }},
      effect);
}

void CrashingDriver::died_in(const std::string& call, Now now) {
  Deaths& deaths = deaths_[call];
  // The call was made before its gate was shut: it says nothing new.
  if (deaths.known >= kDeathsAllowed && now.mono < deaths.until) return;
  ++deaths.known;
  const Duration wait = deaths.known < kDeathsAllowed ? Duration::zero() : held_back(deaths.known);
  deaths.until = now.mono + wait;
  deaths.until_wall = now.wall + wait;
}

void CrashingDriver::answered(const dispatch::Event& event) {
  using namespace dispatch;
  const auto forget = [this](const std::string& call) { deaths_.erase(call); };
  std::visit(Overloaded{[&](const SetOpened& e) {
                          if (e.result) forget("open");
                        },
                        [&](const SetListed& e) {
                          if (e.result) forget("list");
                        },
                        [&](const InstancesLookedUp& e) {
                          if (e.result) forget("list");
                        },
                        [&](const PricesFetched& e) {
                          if (e.result) forget("other");
                        },
                        [&](const ConsoleRead& e) {
                          if (e.result) forget("console");
                        },
                        [&](const ImagesFetched& e) {
                          if (e.result) forget("images");
                        },
                        [&](const OfferingsFetched& e) {
                          if (e.result) forget("offerings");
                        },
                        [&](const LeftoversListed& e) {
                          if (e.result) forget("leftovers");
                        },
                        [&](const LeftoverDestroyed& e) {
                          if (!e.error) forget("destroy_leftover");
                        },
                        [&](const CreateEnded& e) {
                          if (!e.error) forget(creates_[e.instance]);
                        },
                        [&](const DestroyEnded& e) {
                          if (!e.error) forget("destroy " + e.instance.text());
                        },
                        [&](const TagsEnded& e) {
                          if (!e.error) forget("set_tags");
                        },
                        [&](const PowerEnded& e) {
                          if (e.error) return;
                          forget("start");
                          forget("stop");
                        },
                        [](const auto&) {}},
             event);
}

void CrashingDriver::committed() {
  for (auto& [call, deaths] : deaths_) {
    deaths.durable = deaths.known;
    deaths.durable_until = deaths.until_wall;
  }
}

void CrashingDriver::daemon_started(Now now) {
  for (auto& [call, deaths] : deaths_) {
    deaths.known = deaths.durable;
    deaths.until = now.mono + std::max(deaths.durable_until - now.wall, Duration::zero());
    deaths.until_wall = deaths.durable_until;
  }
}

}  // namespace hostler::sim
