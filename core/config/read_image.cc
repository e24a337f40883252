#include "core/config/readers.h"

namespace hostler::config {
namespace {

/// Quotation marks would make two queries look alike.
bool read_text(const json::Field& field, std::string& out) {
  if (!field.text(out, {.bytes_max = model::kImageTextMax, .bytes_min = 1, .one_line = true}))
    return false;
  if (out.find('"') == std::string::npos) return true;
  return field.problem("it must have no quotation marks");
}

void read_filters(const json::Field& field, std::map<std::string, std::string>& out) {
  field.members(model::kImageFiltersMax, [&](std::string_view key, const json::Field& value) {
    if (key.empty() || key.size() > model::kImageFilterKeyMax ||
        key.find('"') != std::string_view::npos)
      value.problem("the name of a filter must have 1 to " +
                    std::to_string(model::kImageFilterKeyMax) + " bytes, and no quotation marks");
    read_text(value, out[std::string(key)]);
  });
}

}  // namespace

void read_image(const json::Field& field, std::optional<model::ImageQuery>& out) {
  if (!field.present()) return;
  model::ImageQuery query;
  if (!field.object([&](json::Object& o) {
        read_text(o.may("name"), query.name);
        read_text(o.may("owner"), query.owner);
        read_text(o.may("architecture"), query.architecture);
        read_filters(o.may("filters"), query.filters);
      }))
    return;
  if (query == model::ImageQuery())
    field.problem("found no key, allowed: name, owner, architecture or filters, at least one");
  out = std::move(query);
}

void read_image_or_id(json::Object& o, std::optional<model::ImageQuery>& image, std::string& id) {
  o.may("image_id").text(id, {.bytes_max = 255, .one_line = true});
  const json::Field field = o.may("image");
  read_image(field, image);
  if (field.present() && !id.empty())
    field.problem("image_id names one image already: only one of the two keys is allowed");
}

}  // namespace hostler::config
