#include <variant>

#include "tests/sim/world.h"

/// Days on which the cloud has images that the site names by a query, and on which disks are left.
namespace hostler::sim {

void World::make_images() {
  if (!ImageCloud::is_of(seed_)) return;
  images_.emplace(seed_, [this](const std::string& what) { complain(what); });
  images_->name_image(policy_);
}

void World::make_leftovers() {
  auto& set = policy_.sets.front();
  set.leftovers = model::LeftoverRule::kOff;
  if (!LeftoverCloud::is_of(seed_)) return;
  leftovers_.emplace(seed_, cloud_, disk_, [this](const std::string& what) { complain(what); });
  LeftoverCloud::set_rule(policy_);
}

/// Those who check what the daemon knows hear what it hears.
void World::hear_cloud(const dispatch::Event& event) {
  if (const auto* found = std::get_if<dispatch::ImagesFetched>(&event); images_ && found)
    images_->heard(*found);
  if (!leftovers_) return;
  if (const auto* listed = std::get_if<dispatch::LeftoversListed>(&event))
    leftovers_->heard(*listed, now().mono);
  if (const auto* destroyed = std::get_if<dispatch::LeftoverDestroyed>(&event))
    leftovers_->heard(*destroyed);
}

}  // namespace hostler::sim
