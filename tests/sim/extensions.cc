#include <variant>

#include "tests/sim/world.h"

/// Days on which the cloud has images that the site names by a query.
namespace hostler::sim {

void World::make_images() {
  if (!ImageCloud::is_of(seed_)) return;
  images_.emplace(seed_, [this](const std::string& what) { complain(what); });
  images_->name_image(policy_);
}

/// Those who check what the daemon knows hear what it hears.
void World::hear_cloud(const dispatch::Event& event) {
  if (const auto* found = std::get_if<dispatch::ImagesFetched>(&event); images_ && found)
    images_->heard(*found);
}

}  // namespace hostler::sim
