#include "tests/sim/image_cloud.h"

#include <algorithm>
#include <utility>

namespace hostler::sim {
namespace {

constexpr const char* kArchitecture = "x86_64";
constexpr Duration kNewImage = 90s;

model::ImageQuery query() { return {"base*", "", kArchitecture, {}}; }

/// One more each time; two of them were made at the same time, and of some nobody knows when.
std::vector<model::Image> images_at(Mono now) {
  std::vector<model::Image> out;
  const auto count = 1 + (now.time_since_epoch() - 24h) / kNewImage;
  for (std::int64_t n = 1; n <= count; ++n)
    out.push_back({"img-" + std::to_string(100 + n),
                   "base " + std::to_string(n),
                   "us",
                   kArchitecture,
                   {n == 1 ? 0 : 1'000 * (n - n % 2)}});
  return out;
}

}  // namespace

void ImageCloud::name_image(model::SitePolicy& policy) {
  policy.sets.front().images_interval = 1min;
  switch (random_.below(3)) {
    case 0:
      policy.sets.front().image = query();
      return;
    case 1:
      // Types that the pool chooses have no image of their own.
      if (policy.types.empty()) policy.sets.front().image = query();
      for (auto& type : policy.types) type.image = query();
      return;
    default:
      for (auto& type : policy.types) type.image_id = "another";
      policy.pools.front().image = query();
  }
}

std::vector<model::Image> ImageCloud::lie(std::vector<model::Image> images) {
  switch (random_.below(6)) {
    case 0:
      return {};
    case 1: {
      const auto once = images;
      images.insert(images.end(), once.begin(), once.end());
      return images;
    }
    case 2:
      images.pop_back();
      return images;
    case 3:
      images.push_back({"img-999", "base 999", "us", "aarch64", {1'000'000'000}});
      return images;
    default:
      return images;
  }
}

void ImageCloud::find(const dispatch::ImagesCall& call, bool faults, Mono now, const Reply& reply) {
  if (call.query != query()) complain_("an image is looked for that nobody named");
  const auto late = static_cast<std::int64_t>(random_.below(faults ? 20'000 : 500));
  dispatch::ImagesFetched answer{call.set, call.query, call.number, images_at(now)};
  if (faults && random_.chance(0.3)) {
    model::CloudError error;
    error.cls = random_.chance(0.5) ? model::CloudErrorClass::kTransient
                                    : model::CloudErrorClass::kUnsupported;
    error.message = "no images today";
    answer.result = tl::unexpected(std::move(error));
  } else if (faults) {
    answer.result = lie(*std::move(answer.result));
  }
  if (answer.result)
    for (std::size_t i = answer.result->size(); i > 1; --i)
      std::swap((*answer.result)[i - 1], (*answer.result)[random_.below(i)]);
  reply(1ms * late, std::move(answer));
}

void ImageCloud::heard(const dispatch::ImagesFetched& answer) {
  if (!answer.result) return;
  auto all = *answer.result;
  std::erase_if(all, [](const auto& image) { return image.architecture != kArchitecture; });
  std::ranges::sort(all, {},
                    [](const auto& image) { return std::pair(image.created.us, image.id); });
  if (!all.empty()) known_ = all.back().id;
}

void ImageCloud::check(const model::SetView& set, const dispatch::Outbox& outbox) const {
  if (set.images.size() != 1 || set.images.front().image.id != known_)
    complain_("the daemon does not use the newest image, " + known_);
  for (const auto& change : outbox.changes) {
    const auto* made = model::get_change<model::InstanceChanged>(change);
    if (made == nullptr || !made->create) continue;  // Only a new create is written.
    const auto& used = made->create->type;
    if (known_.empty() || used.image || used.image_id != known_)
      complain_(made->record.id.text() + " is made of image " + used.image_id + ", not of " +
                known_);
  }
}

void ImageCloud::put_back(const std::vector<model::ImageRow>& rows) {
  known_ = durable_ = rows.empty() ? "" : rows.front().image.id;
}

}  // namespace hostler::sim
