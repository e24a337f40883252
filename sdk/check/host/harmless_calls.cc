#include "sdk/check/host/harmless_calls.h"

namespace hostler::check {
namespace {

using plugin_host::DriverSet;

constexpr Duration kWatchTime = std::chrono::milliseconds(200);

model::InstanceType any_type() {
  model::InstanceType type;
  type.name = type.provider_type = "small";
  return type;
}

std::vector<HarmlessCall> table_calls() {
  return {
      {"set_info", nullptr,
       [](Session& s, const std::string&) {
         return error_of(s.call<model::SetInfo>(
             "set_info", [](DriverSet& set, Duration t, auto done) { set.info(t, done); }));
       }},
      {"list", nullptr, [](Session& s, const std::string&) { return error_of(s.list()); }},
      {"set_tags", nullptr,
       [](Session& s, const std::string& id) {
         return error_of(s.set_tags({.id = id, .set = {{"colour", "red"}}}));
       }},
  };
}

std::vector<HarmlessCall> extension_calls() {
  return {
      {"verify", HOSTLER_EXT_HOST_KEY,
       [](Session& s, const std::string& id) {
         return error_of(
             s.call<Session::Nothing>("verify", [&](DriverSet& set, Duration t, auto done) {
               set.verify_host_key({id, "ssh-ed25519", std::string(51, 'k')}, t, done);
             }));
       }},
      {"history", HOSTLER_EXT_PRICE_HISTORY,
       [](Session& s, const std::string&) {
         return error_of(s.call<std::vector<model::ZonePrice>>(
             "history", [](DriverSet& set, Duration t, auto done) {
               set.price_history({any_type(), Wall{1}}, t, done);
             }));
       }},
      {"group", HOSTLER_EXT_QUOTA_GROUP,
       [](Session& s, const std::string&) {
         return error_of(s.call<std::string>("group", [](DriverSet& set, Duration t, auto done) {
           set.quota_group(any_type(), t, done);
         }));
       }},
      {"start", HOSTLER_EXT_POWER,
       [](Session& s, const std::string& id) { return error_of(s.start(id)); }},
      {"offerings", HOSTLER_EXT_OFFERINGS,
       [](Session& s, const std::string&) {
         return error_of(s.call<std::vector<model::CloudOffering>>(
             "offerings",
             [](DriverSet& set, Duration t, auto done) { set.offerings({}, t, done); }));
       }},
      {"watch", HOSTLER_EXT_INTERRUPTION,
       [](Session& s, const std::string&) {
         return error_of(s.call<Session::Nothing>(
             "watch",
             [](DriverSet& set, Duration t, auto done) {
               set.watch_interruptions(
                   t, [](const model::Interruption&) {}, done);
             },
             kWatchTime));
       }},
      {"console read", HOSTLER_EXT_CONSOLE,
       [](Session& s, const std::string& id) {
         return error_of(
             s.call<model::ConsoleText>("console read", [&](DriverSet& set, Duration t, auto done) {
               set.read_console({.id = id, .offset = 0, .bytes_max = 4096}, t, done);
             }));
       }},
      {"leftovers list", HOSTLER_EXT_LEFTOVERS,
       [](Session& s, const std::string&) {
         return error_of(s.call<std::vector<model::Leftover>>(
             "leftovers list", [](DriverSet& set, Duration t, auto done) {
               set.list_leftovers({{"hostler-set", Session::kSetId}}, t, done);
             }));
       }},
      {"images find", HOSTLER_EXT_IMAGES,
       [](Session& s, const std::string&) {
         return error_of(s.call<std::vector<model::Image>>(
             "images find", [](DriverSet& set, Duration t, auto done) {
               set.find_images({.name = "kit-no-such-image*", .owner = {}, .architecture = {}}, t,
                               done);
             }));
       }},
  };
}

}  // namespace

const std::vector<HarmlessCall>& harmless_calls() {
  static const std::vector<HarmlessCall> kCalls = [] {
    auto calls = table_calls();
    for (auto& call : extension_calls()) calls.push_back(std::move(call));
    return calls;
  }();
  return kCalls;
}

bool is_there(const HarmlessCall& call) {
  return call.extension == nullptr || Relay::get().has(call.extension);
}

}  // namespace hostler::check
