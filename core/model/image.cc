#include "core/model/image.h"

#include <tuple>

namespace hostler::model {

/// Texts of a configuration have no quotation marks.
std::string to_string(const ImageQuery& query) {
  std::string out;
  const auto add = [&](const std::string& what, const std::string& text) {
    if (!text.empty()) out += (out.empty() ? "" : ", ") + what + " \"" + text + "\"";
  };
  add("name", query.name);
  add("owner", query.owner);
  add("architecture", query.architecture);
  for (const auto& [key, value] : query.filters)
    out += (out.empty() ? "" : ", ") + ("filter \"" + key) + "\" \"" + value + "\"";
  return out;
}

const Image* newest_of(const ImageQuery& query, const std::vector<Image>& all) {
  const Image* newest = nullptr;
  for (const auto& image : all) {
    const bool is_other = !query.architecture.empty() && !image.architecture.empty() &&
                          image.architecture != query.architecture;
    if (is_other) continue;
    if (newest == nullptr ||
        std::tie(newest->created.us, newest->id) < std::tie(image.created.us, image.id))
      newest = &image;
  }
  return newest;
}

}  // namespace hostler::model
