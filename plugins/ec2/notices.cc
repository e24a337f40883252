#include "notices.h"

#include <hostler/driver.h>

#include <algorithm>
#include <array>

#include "find_instances.h"
#include "http/text.h"
#include "instance.h"

namespace hostler::ec2 {
namespace {

constexpr std::int64_t kTwoMinutesNs = 120'000'000'000;

std::uint32_t spot_action(std::string_view code) {
  if (code == "marked-for-stop") return HOSTLER_INTERRUPTION_STOP;
  if (code == "marked-for-hibernation") return HOSTLER_INTERRUPTION_SUSPEND;
  return HOSTLER_INTERRUPTION_TERMINATE;
}

std::uint32_t event_action(std::string_view code) {
  if (code == "instance-stop") return HOSTLER_INTERRUPTION_STOP;
  if (code == "instance-retirement") return HOSTLER_INTERRUPTION_TERMINATE;
  return HOSTLER_INTERRUPTION_RESTART;  // instance-reboot, system-reboot, system-maintenance
}

/// EC2 keeps events for a week after they are over.
bool is_over(std::string_view description) {
  return description.substr(0, 11) == "[Completed]" || description.substr(0, 10) == "[Canceled]";
}

void add_undisturbed(const Api& api, const std::vector<std::string>& instances, hostler_op* op,
                     std::set<std::string>& to) {
  Query running("DescribeInstances");
  running.add_filter("instance-id", instances).add_filter("instance-state-name", {"running"});
  for (const auto& [id, instance] : find_instances(api, running, op)) to.insert(id);
  Query requests("DescribeSpotInstanceRequests");
  requests.add_filter("instance-id", instances);
  api.each(
      requests, 1000, "spotInstanceRequestSet",
      [&](const Node& item) {
        if (text_at(item, "status/code") != "fulfilled") to.erase(text_of(item, "instanceId"));
      },
      op);
}

}  // namespace

Notices spot_notices(const Api& api, const std::string& set_id, hostler_op* op) {
  constexpr std::array kMarks{"marked-for-termination", "marked-for-stop",
                              "marked-for-hibernation"};
  Query query("DescribeSpotInstanceRequests");
  query.add_filter("status-code", {kMarks.begin(), kMarks.end()});
  query.add_filter("tag:" + std::string(kSetTag), {set_id});
  Notices out;
  api.each(
      query, 1000, "spotInstanceRequestSet",
      [&](const Node& item) {
        const std::string instance = text_of(item, "instanceId");
        const std::string code = text_at(item, "status/code");
        // A server that does not know the filter shows all requests.
        if (instance.empty() || std::find(kMarks.begin(), kMarks.end(), code) == kMarks.end())
          return;
        const std::int64_t at = http::read_time_ns(text_at(item, "status/updateTime"));
        out[instance] = {code + ": " + text_at(item, "status/message"),
                         at == 0 ? 0 : at + kTwoMinutesNs, spot_action(code)};
      },
      op);
  return out;
}

Notices scheduled_notices(const Api& api, hostler_op* op) {
  Query query("DescribeInstanceStatus");
  query.add("IncludeAllInstances", "true").add_pattern("event.code", {"*"});
  Notices out;
  api.each(
      query, 1000, "instanceStatusSet",
      [&](const Node& item) {
        const std::string instance = text_of(item, "instanceId");
        for (const Node& event : item.child("eventsSet").children("item")) {
          const std::string words = text_of(event, "description");
          const std::int64_t at = http::read_time_ns(text_of(event, "notBefore"));
          if (instance.empty() || is_over(words)) continue;
          Notice notice{text_of(event, "code") + ": " + words, at,
                        event_action(text_of(event, "code"))};
          const auto known = out.find(instance);
          const bool is_first = known == out.end() || at < known->second.interruption_unix_ns;
          if (is_first) out[instance] = notice;
        }
      },
      op);
  return out;
}

std::set<std::string> undisturbed(const Api& api, const std::vector<std::string>& instances,
                                  hostler_op* op) {
  std::set<std::string> out;
  for_each_filter(instances, [&](const auto& some) { add_undisturbed(api, some, op, out); });
  return out;
}

std::chrono::milliseconds pause_after_failure(std::chrono::milliseconds before,
                                              std::int64_t retry_after_s) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::minutes(2);
  return std::max<std::chrono::milliseconds>(std::min(before * 2, kLongest),
                                             std::chrono::seconds(retry_after_s));
}

}  // namespace hostler::ec2
