#include "images.h"

#include <algorithm>
#include <hostler/driver.hpp>
#include <optional>

#include "instance.h"
#include "with_context.h"

namespace hostler::lxd {
namespace {

using driver::view;

/// The value of a filter's key: "public", "cached" or a property.
std::optional<std::string> value_of(const Image& image, const std::string& key) {
  const auto truth = [](bool is) { return std::string(is ? "true" : "false"); };
  if (key == "public") return truth(image.is_public);
  if (key == "cached") return truth(image.is_cached);
  const auto found = image.properties.find(key);
  return found == image.properties.end() ? std::nullopt : std::optional(found->second);
}

void check_keys(const std::vector<Image>& images, const hostler_images_req& request) {
  for (std::size_t i = 0; i < request.n_filters && !images.empty(); ++i) {
    const std::string key = text(request.filters[i].key);
    if (std::none_of(images.begin(), images.end(),
                     [&](const Image& one) { return value_of(one, key).has_value(); }))
      throw driver::Error(HOSTLER_E_INVALID, "no image of this LXD has the property \"" + key +
                                                 "\"; others are public, cached");
  }
}

bool is_wanted(const Image& image, const hostler_images_req& request) {
  if (image.kind != "container" || name_by(text(request.name), image).empty()) return false;
  if (request.owner.len != 0 && view(request.owner) != image.owner) return false;
  if (request.architecture.len != 0 && view(request.architecture) != image.architecture)
    return false;
  for (std::size_t i = 0; i < request.n_filters; ++i)
    if (value_of(image, text(request.filters[i].key)) != text(request.filters[i].value))
      return false;
  return true;
}

}  // namespace

Image read_image(const Value& value) {
  Image out;
  out.fingerprint = text_of(value, "fingerprint");
  if (out.fingerprint.empty() || out.fingerprint.size() > 255)
    throw_not_lxd("an image without a fingerprint");
  out.kind = text_of(value, "type");
  out.architecture = text_of(value, "architecture");
  out.is_public = truth_of(value, "public");
  out.is_cached = truth_of(value, "cached");
  const Value* const source = object_of(value, "update_source");
  out.owner = source == nullptr ? "local" : text_of(*source, "server");
  // An image may have been made long before this LXD has got it, or say no time at all.
  out.created_unix_ns = read_time_ns(text_of(value, "created_at"));
  if (out.created_unix_ns == 0) out.created_unix_ns = read_time_ns(text_of(value, "uploaded_at"));
  const auto aliases = value.FindMember("aliases");
  if (aliases != value.MemberEnd() && aliases->value.IsArray())
    for (const Value& one : aliases->value.GetArray()) out.aliases.push_back(text_of(one, "name"));
  if (const Value* const properties = object_of(value, "properties"); properties != nullptr)
    for (const auto& one : properties->GetObject())
      if (one.value.IsString()) out.properties[one.name.GetString()] = one.value.GetString();
  return out;
}

bool matches(std::string_view pattern, std::string_view text) {
  // Back to the last `*`, which then takes one more character.
  std::size_t p = 0, t = 0, star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::string name_by(const std::string& pattern, const Image& image) {
  std::vector<std::string> names = image.aliases;
  const auto description = image.properties.find("description");
  if (description != image.properties.end()) names.push_back(description->second);
  names.push_back(image.fingerprint);
  for (const std::string& name : names)
    if (!name.empty() && name.size() <= 255 && (pattern.empty() || matches(pattern, name)))
      return name;
  return {};
}

std::vector<Image> select(const std::vector<Image>& images, const hostler_images_req& request) {
  check_keys(images, request);
  std::vector<Image> out;
  std::copy_if(images.begin(), images.end(), std::back_inserter(out),
               [&](const Image& one) { return is_wanted(one, request); });
  return out;
}

}  // namespace hostler::lxd
