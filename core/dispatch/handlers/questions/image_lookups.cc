#include "core/dispatch/handlers/questions/image_lookups.h"

#include <chrono>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::dispatch {
namespace {

using model::CloudOp;

constexpr Duration kLookupPause = std::chrono::seconds(10);  ///< After the first without a result.
/// So often the journal learns that an image was found again: for its age after a restart.
constexpr Duration kStoredAgain = std::chrono::hours(1);

std::string name_of(const model::Image& image) {
  return printable(image.id, model::kForeignNameMax) +
         (image.name.empty() ? "" : " (" + printable(image.name, model::kForeignNameMax) + ")");
}

}  // namespace

void ImageLookups::policy_changed(Now now) {
  for (auto& gone : images_.reload()) recorder_.change(std::move(gone));
  for (std::uint32_t i = 0; i < sets_.size(); ++i) {
    std::vector<std::string> queries;
    for (const auto& [query, known] : images_.of(i)) queries.push_back(model::to_string(query));
    questions_.keep(i, CloudOp::kImages, queries, {policy_.sets[i].images_interval, kLookupPause},
                    now);
  }
}

void ImageLookups::send_due(std::uint32_t index, Now now) {
  for (const auto& call : questions_.due(index, CloudOp::kImages, now).calls)
    for (const auto& [query, known] : images_.of(index))
      if (model::to_string(query) == call.about)
        recorder_.effect(
            ImagesCall{sets_.at(index).name, query, call.number, policy_.sets[index].list_timeout});
}

void ImageLookups::on(const ImagesFetched& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  const Questions::Name question{*index, CloudOp::kImages, model::to_string(event.query)};
  const auto* error = event.result ? nullptr : &event.result.error();
  if (!questions_.take(question, event.number, error, now)) return;
  const auto found_before = images_.of(*index).find(event.query);
  if (found_before == images_.of(*index).end()) return;  // Another one of the same text is asked.
  FoundImage& known = found_before->second;
  if (error != nullptr)
    return found_none(
        question, known, error->cls,
        std::string("the lookup failed (") + model::to_string(error->cls) + "): " + error->message,
        now);
  const auto* newest = model::newest_of(event.query, *event.result);
  if (newest == nullptr)
    return found_none(question, known, model::CloudErrorClass::kNotFound,
                      "the cloud has no image that matches", now);
  questions_.good(question, now);
  found(event.set, event.query, known, *newest, now);
}

void ImageLookups::found(const std::string& set, const model::ImageQuery& query, FoundImage& known,
                         const model::Image& newest, Now now) {
  const bool was_lost = !known.error.empty();
  const bool changed = !known.image || known.image->id != newest.id;
  const bool is_news = !known.image || *known.image != newest;
  known.error.clear();
  known.image = newest;
  known.found = now.wall;
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

void ImageLookups::found_none(const Questions::Name& question, FoundImage& known,
                              model::CloudErrorClass cls, std::string why, Now now) {
  known.error = std::move(why);
  if (!questions_.bad(question, cls, now)) return;
  recorder_.record("cloud", "set " + sets_.at(question.set).name, model::Event::kImageLost,
                   model::to_string(cls),
                   "for " + question.about + ": " + known.error +
                       (known.image ? "; " + name_of(*known.image) + " stays in use" : ""),
                   now);
}

}  // namespace hostler::dispatch
