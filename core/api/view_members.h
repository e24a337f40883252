#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/views_json.h"
#include "core/base/units.h"

/// What the files of the views share, and nobody else uses: members that are left out where there
/// is nothing to say, and numbers.
namespace hostler::api {

inline void member_time(json::Writer& w, std::string_view key, Wall at) {
  if (at.us != 0) w.member(key, format_wall(at));
}
inline void member_text(json::Writer& w, std::string_view key, const std::string& text) {
  if (!text.empty()) w.member(key, text);
}
inline void member_texts(json::Writer& w, std::string_view key,
                         const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  w.key(key).begin_array();
  for (const auto& text : texts) w.value(text);
  w.end_array();
}

void write_resources(json::Writer& w, const model::Resources& r, const model::GpuWish& gpu = {});

/// For Writer::millionths(): the part in percent, to one digit behind the point.
inline std::int64_t percent(double part) {
  return static_cast<std::int64_t>(std::lround(part * 1000)) * 100'000;
}

}  // namespace hostler::api
