#include "core/pushed/check_push.h"

#include <string>
#include <string_view>
#include <unordered_set>

#include "core/base/text.h"

namespace hostler::pushed {
namespace {

tl::unexpected<Error> refuse(const std::string& path, const std::string& text) {
  return tl::unexpected(
      Error{.code = Errc::kInvalidArgument, .message = path + ": " + text, .path = path});
}

Result<void> check_name(const std::string& name, const std::string& path) {
  if (name.empty()) return refuse(path, "it is empty");
  if (name.size() > model::kPushedNameMax)
    return refuse(path, "it has " + std::to_string(name.size()) + " bytes, and may have " +
                            std::to_string(model::kPushedNameMax));
  if (!is_utf8(name)) return refuse(path, "'" + printable(name, 60) + "' is not UTF-8 without NUL");
  return {};
}

Result<void> check_count(std::size_t count, std::size_t max, const std::string& path) {
  if (count <= max) return {};
  return tl::unexpected(Error{.code = Errc::kTooLarge,
                              .message = std::to_string(count) + " " + path +
                                         " are too many for one push: at most " +
                                         std::to_string(max),
                              .path = path});
}

bool is_good(const std::string& name) {
  return !name.empty() && name.size() <= model::kPushedNameMax && is_utf8(name);
}

/// Each name once. `path` makes the text, which only a refusal needs: a push has many names.
class Names {
 public:
  explicit Names(std::size_t count) { seen_.reserve(count); }
  template <class Path>
  Result<void> add(const std::string& name, const Path& path) {
    if (!is_good(name)) return check_name(name, path());
    if (!seen_.insert(name).second)
      return refuse(path(), "'" + printable(name, 60) + "' is there twice");
    return {};
  }

 private:
  std::unordered_set<std::string_view> seen_;
};

Result<void> check_tasks(const model::Push& push) {
  Names ids(push.tasks.size());
  for (std::size_t i = 0; i < push.tasks.size(); ++i) {
    const auto& task = push.tasks[i];
    const auto path = [i](const char* member) {
      return "tasks[" + std::to_string(i) + "]." + member;
    };
    HOSTLER_TRY(ids.add(task.id, [&] { return path("id"); }));
    if (task.slots < 0 || task.slots > model::kSlotsMax)
      return refuse(path("slots"), std::to_string(task.slots) + " is not a number from 0 to " +
                                       std::to_string(model::kSlotsMax));
    if (!task.group.empty() && !is_good(task.group)) return check_name(task.group, path("group"));
  }
  return {};
}

}  // namespace

Result<void> check_push(const model::Push& push) {
  HOSTLER_TRY(check_name(push.session, "session"));
  HOSTLER_TRY(check_count(push.agents.size(), model::kPushedAgentsMax, "agents"));
  HOSTLER_TRY(check_count(push.tasks.size(), model::kPushedTasksMax, "tasks"));
  HOSTLER_TRY(check_count(push.group_max.size(), model::kPushedTasksMax, "group_max"));
  Names agents(push.agents.size());
  for (std::size_t i = 0; i < push.agents.size(); ++i)
    HOSTLER_TRY(
        agents.add(push.agents[i].name, [i] { return "agents[" + std::to_string(i) + "].name"; }));
  HOSTLER_TRY(check_tasks(push));
  if (push.desired_new && !push.tasks.empty())
    return refuse("desired_new", "a push says either tasks or desired_new");
  if (push.desired_new && (*push.desired_new < 0 || *push.desired_new > model::kSlotsMax))
    return refuse("desired_new", std::to_string(*push.desired_new) + " is not a number from 0 to " +
                                     std::to_string(model::kSlotsMax));
  for (const auto& [group, max] : push.group_max) {
    HOSTLER_TRY(check_name(group, "group_max"));
    if (max < 0)
      return refuse("group_max", "the maximum of group '" + printable(group, 60) +
                                     "' is negative: " + std::to_string(max));
  }
  return {};
}

}  // namespace hostler::pushed
