#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/model/offering.h"
#include "sdk/check/site.h"

namespace hostler::check {

/// What an author says of the driver and of the cloud to check it with: the file
/// `driver-check.json` beside the library, or the one of --config. README.md lists its keys.
struct Settings {
  std::string config_json = "{}";
  std::string credentials_json;         ///< Secret.
  bool has_cloud = false;               ///< The file says which cloud: the set must open.
  bool is_test_cloud = true;            ///< Machines may be made without --live.
  std::vector<std::string> endpoints;   ///< Keys of the config that hold the address of the cloud.
  model::InstanceType type;             ///< Of the machines that are made.
  std::string image_id, zone;           ///< Likewise; empty: the driver's choice.
  double rate = 0;                      ///< Calls in a second that the cloud allows; 0: any.
  int quota = 0;                        ///< Machines that the account may have; 0: any.
  std::optional<Site> site;             ///< In place of these: machines are made as hostlerd does.
  std::optional<Duration> consistency;  ///< A quirk: in place of what set_info says.
  bool cannot_list_by_ids = false;      ///< A quirk: list by ids is UNSUPPORTED.
  bool cannot_set_tags = false;         ///< A quirk: set_tags is UNSUPPORTED.
  bool forgets_keys = false;  ///< A quirk: the key of a machine that is gone makes another.

  /// Name and reason, as the file has them: they are printed.
  std::vector<std::pair<std::string, std::string>> quirks;
};

/// Reads the file; without one (`config` empty, and none beside the library) all is as above.
Result<Settings> read_settings(const std::filesystem::path& library,
                               const std::filesystem::path& config);

/// The texts in the credentials that may appear nowhere, in the order that masked() wants.
std::vector<std::string> secrets_of(const Settings& settings);
/// Credentials of the same form with other texts: nobody accepts them.
std::string false_credentials(const std::string& credentials_json);
/// The config with this value, which is JSON, at the key; without the key if there is none.
std::string with_value(const std::string& config_json, std::string_view key,
                       std::string_view value_json);
/// The config with another text at this key.
std::string with_text(const std::string& config_json, std::string_view key, std::string_view text);
/// The text at a key of the config; empty if there is none.
std::string text_at(const std::string& config_json, std::string_view key);

}  // namespace hostler::check
