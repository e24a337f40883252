#include "core/plugin_host/limits.h"

#include <cstdint>

#include "core/base/text.h"

namespace hostler::plugin_host {
namespace {

bool is_beyond(std::uint64_t size, std::uint64_t limit) { return limit != 0 && size > limit; }

std::string too_much(const std::string& what, std::uint64_t size, std::uint64_t limit,
                     const char* advice) {
  return what + " of " + std::to_string(size) + " bytes, the set takes at most " +
         std::to_string(limit) + ": " + advice;
}

}  // namespace

std::string beyond_limits(const model::CreateRequest& request, const model::SetInfo& info) {
  const std::size_t user_data = request.user_data.size();
  if (user_data != 0 && !info.user_data) return "the set takes no user data";
  if (is_beyond(user_data, info.user_data_max_bytes))
    return too_much(request.user_data_gzip ? "compressed user data" : "user data", user_data,
                    info.user_data_max_bytes,
                    "make cloud_config, boot_files or init_command of the pool shorter, or its "
                    "`init_delivery` auto");
  if (is_beyond(request.tags.size(), info.tags_max))
    return std::to_string(request.tags.size()) + " tags, the set takes at most " +
           std::to_string(info.tags_max) + ": give the set fewer `tags`";
  if (is_beyond(request.name_hint.size(), info.name_max))
    return too_much("a name", request.name_hint.size(), info.name_max, "shorten the pool's name");
  for (const auto& [key, value] : request.tags) {
    if (is_beyond(key.size(), info.tag_key_max))
      return too_much("the tag name " + printable(key), key.size(), info.tag_key_max,
                      "correct the `tags` of the set");
    if (is_beyond(value.size(), info.tag_value_max))
      return too_much("the tag " + printable(key) + " has a value", value.size(),
                      info.tag_value_max, "correct the `tags` of the set");
  }
  return {};
}

}  // namespace hostler::plugin_host
