#include <algorithm>
#include <array>
#include <hostler/json_object.hpp>
#include <string>

#include "config.h"
#include "http/text.h"

namespace hostler::ec2 {
namespace {

using driver::refuse_credentials;

/// A part of a key, and what it is called in the driver's own form and in that of Amazon's tools.
struct Part {
  const char *own, *amazon;
  std::string Credentials::*to;
};

constexpr std::array kParts{
    Part{"access_key_id", "AccessKeyId", &Credentials::access_key_id},
    Part{"secret_access_key", "SecretAccessKey", &Credentials::secret_access_key},
    Part{"session_token", "SessionToken", &Credentials::session_token}};

std::string string_of(const std::string& name, const rapidjson::Value& value) {
  if (!value.IsString()) refuse_credentials(name + " must be a string");
  return {value.GetString(), value.GetStringLength()};
}

void read_part(const std::string& name, const rapidjson::Value& value, std::string& to) {
  if (!to.empty()) refuse_credentials(name + " is given twice");
  to = string_of(name, value);
  const bool is_line =
      std::none_of(to.begin(), to.end(), [](unsigned char c) { return c <= 0x20 || c >= 0x7f; });
  if (!is_line)
    refuse_credentials(name + " has a space or another character that keys do not have");
}

/// What Amazon's tools print beside a key. hostlerd renews keys by its own interval.
void check_rest(const std::string& name, const rapidjson::Value& value) {
  if (name == "Version") {
    if (!value.IsInt() || value.GetInt() != 1) refuse_credentials("Version must be 1");
  } else if (name == "Expiration") {
    if (http::read_time_ns(string_of(name, value)) == 0)
      refuse_credentials("Expiration is no time");
  } else if (name == "AccountId") {
    (void)string_of(name, value);
  } else {
    refuse_credentials(name +
                       " is unknown; needed: access_key_id, secret_access_key, session_token");
  }
}

}  // namespace

Credentials read_credentials(const std::string& text) {
  Credentials out;
  driver::read_credentials_object(
      text, [&](const std::string& name, const rapidjson::Value& value) {
        const auto* const part = std::find_if(kParts.begin(), kParts.end(), [&](const Part& one) {
          return name == one.own || name == one.amazon;
        });
        if (part == kParts.end())
          check_rest(name, value);
        else
          read_part(name, value, out.*(part->to));
      });
  if (out.access_key_id.empty() != out.secret_access_key.empty())
    refuse_credentials("access_key_id and secret_access_key need each other");
  if (!out.session_token.empty() && out.access_key_id.empty())
    refuse_credentials("session_token needs access_key_id and secret_access_key");
  return out;
}

}  // namespace hostler::ec2
