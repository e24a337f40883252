#pragma once

#include <hostler/driver.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "answer.h"

namespace hostler::lxd {

/// An image as LXD shows it.
struct Image {
  std::string fingerprint, kind, architecture;
  std::string owner;                 ///< The server that it came from, "local" if that is this one.
  std::vector<std::string> aliases;  ///< In the order of LXD.
  std::map<std::string, std::string> properties;
  bool is_public = false, is_cached = false;
  std::int64_t created_unix_ns = 0;
};

/// Throws Error(TRANSIENT) if `value` is no image.
Image read_image(const Value& value);

/// Whether `text` is as `pattern` says, in which `*` stands for any text.
bool matches(std::string_view pattern, std::string_view text);

/// The alias by which it matches, its description if it has none, its fingerprint if it has no
/// description either; empty: it does not match `pattern`. An empty pattern matches all.
std::string name_by(const std::string& pattern, const Image& image);

/// Those that the request asks for and that a container can be made of. Throws INVALID for a filter
/// that no image has.
std::vector<Image> select(const std::vector<Image>& images, const hostler_images_req& request);

}  // namespace hostler::lxd
