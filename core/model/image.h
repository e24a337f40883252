#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/base/time.h"

/// Images that instances are made of, by what a site knows of them.
namespace hostler::model {

/// Limits of its texts: all together are a part of a key in the store.
inline constexpr std::size_t kImageTextMax = 127, kImageFiltersMax = 8, kImageFilterKeyMax = 63;

/// Which images are meant; the newest of them is used.
struct ImageQuery {
  std::string name;  ///< `*` stands for any text. Here and below empty: any.
  std::string owner, architecture;
  std::map<std::string, std::string> filters = {};  ///< All must match exactly.
  friend auto operator<=>(const ImageQuery&, const ImageQuery&) = default;
};
/// For people, and different for different queries: `name "debian-12*", architecture "x86_64"`.
std::string to_string(const ImageQuery& query);

struct Image {
  std::string id, name, owner, architecture;
  Wall created;  ///< 0: not known.
  friend bool operator==(const Image&, const Image&) = default;
};

/// The newest image that matches, by its time and then by its id; null: none does. What the cloud
/// says of an architecture is held against the query.
[[nodiscard]] const Image* newest_of(const ImageQuery& query, const std::vector<Image>& all);

}  // namespace hostler::model
