#include "core/model/image.h"

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

}  // namespace hostler::model
