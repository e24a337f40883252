#include "core/dispatch/handlers/image_lookups.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/fleet/step.h"

namespace hostler::dispatch {
namespace {

constexpr Duration kLookupPause = std::chrono::seconds(10);  ///< After the first without a result.
constexpr Duration kGateCheckPause = std::chrono::seconds(1);
/// So often the journal learns that an image was found again: for its age after a restart.
constexpr Duration kStoredAgain = std::chrono::hours(1);

std::string name_of(const model::Image& image) {
  return printable(image.id, model::kForeignNameMax) +
         (image.name.empty() ? "" : " (" + printable(image.name, model::kForeignNameMax) + ")");
}

}  // namespace

void ImageLookups::send_due(std::uint32_t index, Now now) {
  const Set& set = sets_.at(index);
  if (!set.open) return;
  const scheduler::GateQuery call{.set = set.name, .op = model::CloudOp::kImages};
  for (auto& [query, known] : images_.of(index)) {
    if (known.asked || known.next > now.mono) continue;
    // The first call may shut the gate for the others, if it is the one that probes.
    if (const auto* gate = gates_.shut(call, now.mono)) {
      known.next = std::max(gate->until, now.mono + kGateCheckPause);
      continue;
    }
    gates_.sent(call, now.mono);
    known.asked = ++calls_;
    recorder_.effect(ImagesCall{set.name, query, calls_, policy_.sets[index].list_timeout});
  }
}

void ImageLookups::on(const ImagesFetched& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  const scheduler::GateQuery call{.set = event.set, .op = model::CloudOp::kImages};
  if (event.result) {
    gates_.answered(call, nullptr, now);
  } else {
    auto error = event.result.error();
    // An account that may not look for images may still create.
    if (error.cls != model::CloudErrorClass::kRateLimit) error.scope |= model::scope::kOperation;
    gates_.answered(call, &error, now);
  }
  const auto known = images_.of(*index).find(event.query);
  if (known == images_.of(*index).end() || known->second.asked != event.number) return;
  known->second.asked.reset();
  if (!event.result) {
    const auto& error = event.result.error();
    return found_none(
        event.set, event.query, known->second, error.cls,
        std::string("the lookup failed (") + model::to_string(error.cls) + "): " + error.message,
        now);
  }
  if (const auto* newest = newest_of(event.query, *event.result))
    return found(event.set, event.query, known->second, *newest, now);
  found_none(event.set, event.query, known->second, model::CloudErrorClass::kNotFound,
             "the cloud has no image that matches", now);
}

void ImageLookups::found(const std::string& set, const model::ImageQuery& query, FoundImage& known,
                         const model::Image& newest, Now now) {
  const bool was_lost = !known.error.empty();
  const bool changed = !known.image || known.image->id != newest.id;
  const bool is_news = !known.image || *known.image != newest;
  known.failures = 0;
  known.error.clear();
  known.image = newest;
  known.found = now.wall;
  known.next = now.mono + policy_.sets[*sets_.index_of(set)].images_interval;
  if (is_news || known.found - known.stored >= kStoredAgain || known.found < known.stored) {
    known.stored = known.found;
    recorder_.change(model::ImageRow{set, model::to_string(query), newest, now.wall});
  }
  if (changed) plan_.want();
  if (changed || was_lost)
    recorder_.record("cloud", "set " + set,
                     changed ? model::Event::kImageChanged : model::Event::kImageFoundAgain,
                     printable(newest.id, model::kForeignNameMax),
                     "for " + model::to_string(query) + ": " + name_of(newest) +
                         (newest.created.us > 0 ? ", made at " + format_wall(newest.created) : ""),
                     now);
}

void ImageLookups::found_none(const std::string& set, const model::ImageQuery& query,
                              FoundImage& known, model::CloudErrorClass cls, std::string why,
                              Now now) {
  ++known.failures;
  const bool is_news = known.error.empty();
  known.error = std::move(why);
  known.next = now.mono + fleet::backoff(known.failures, kLookupPause,
                                         policy_.sets[*sets_.index_of(set)].images_interval);
  if (!is_news) return;
  recorder_.record("cloud", "set " + set, model::Event::kImageLost, model::to_string(cls),
                   "for " + model::to_string(query) + ": " + known.error +
                       (known.image ? "; " + name_of(*known.image) + " stays in use" : ""),
                   now);
}

void ImageLookups::on(const SuccessorOpened& event, Now now) {
  if (const auto index = sets_.index_of(event.set); index && event.result)
    images_.ask_again(*index, now.mono);
}

void ImageLookups::policy_changed(Now now) {
  for (auto& gone : images_.reload()) recorder_.change(std::move(gone));
  for (std::uint32_t i = 0; i < sets_.size(); ++i)
    for (auto& [query, known] : images_.of(i))
      known.next = std::min(known.next, now.mono + policy_.sets[i].images_interval);
}

}  // namespace hostler::dispatch
