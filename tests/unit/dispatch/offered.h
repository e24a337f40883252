#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/unit/dispatch/story.h"

/// A pool that chooses types by their properties, and what its cloud offers.
namespace hostler::dispatch {

inline model::CloudOffering offering(const std::string& type, std::int32_t vcpus,
                                     std::int64_t price, const std::string& zone = "") {
  model::CloudOffering out;
  out.provider_type = type;
  out.zone = zone;
  out.resources = {.vcpus = vcpus, .gpus = 0, .ram = vcpus * kGiB, .scratch = 0};
  if (price >= 0) out.price_per_hour = model::Micros{price};
  out.available = model::Availability::kYes;
  return out;
}

inline model::SitePolicy choosing_site() {
  auto site = small_site();
  site.types.clear();
  site.pools[0].types.clear();
  site.pools[0].selector.emplace();
  return site;
}

/// What the set said that it offers, as the store keeps it: "m5.large" with 2 vcpus.
inline model::OfferedRow offered_row(const std::string& set) {
  model::OfferedRow row;
  row.set = set;
  row.provider_type = "m5.large";
  row.name = "m5-large";
  row.resources = {.vcpus = 2, .gpus = 0, .ram = 2 * kGiB, .scratch = 0};
  row.has_price = true;
  row.price_per_hour = {60};
  return row;
}

/// A site with that type, and an idle host of it with the number 7.
inline model::Restored restored_with_a_host() {
  model::Restored restored;
  restored.offered = {offered_row("west")};
  model::InstanceRecord record;
  record.id = InstanceId{7};
  record.set = "west";
  record.pool = "default";
  record.type = "m5-large";
  record.state = InstanceState::kIdle;
  restored.instances.push_back({record, nullptr, false});
  restored.last_instance = 7;
  return restored;
}

class OfferingsTest : public testing::Test {
 protected:
  void open(model::Restored restored = {}) { story.begin(std::move(restored)); }
  /// Answers the next question, and waits for it if it is not due yet.
  void offer(model::CloudResult<std::vector<model::CloudOffering>> answer) {
    for (int minute = 0; story.all<OfferingsCall>().empty() && minute < 100; ++minute)
      story.pass(1min);
    ASSERT_FALSE(story.all<OfferingsCall>().empty()) << "nobody asked";
    const auto number = story.all<OfferingsCall>().back().number;
    std::erase_if(story.effects,
                  [](const auto& one) { return std::holds_alternative<OfferingsCall>(one); });
    story.say(OfferingsFetched{"west", number, std::move(answer)});
  }
  void fail(CloudErrorClass cls) { offer(tl::unexpected(error(cls))); }
  std::vector<std::string> types() const {
    std::vector<std::string> out;
    for (const auto& type : story.dispatcher.queries().policy().types) out.push_back(type.name);
    return out;
  }
  /// The type of the last create.
  std::string bought() {
    const auto calls = story.all<CreateCall>();
    return calls.empty() ? "none" : calls.back().request->type.provider_type;
  }
  std::string waits(WorkId id) { return story.dispatcher.queries().waiting(id)->reason; }
  model::SetView set() { return story.dispatcher.queries().sets(story.now).at(0); }

  Story story{choosing_site()};
};

}  // namespace hostler::dispatch
