#include "credentials_object.h"

#include <hostler/driver.hpp>

namespace hostler::driver {

void refuse_credentials(const std::string& problem) {
  throw Error(HOSTLER_E_INVALID, "credentials: " + problem);
}

void read_credentials_object(
    const std::string& text,
    const std::function<void(const std::string& name, const rapidjson::Value& value)>& member) {
  if (text.empty()) return;
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject())
    refuse_credentials("they are no JSON object");
  const rapidjson::Value& all = document;
  for (const auto& one : all.GetObject())
    member({one.name.GetString(), one.name.GetStringLength()}, one.value);
}

}  // namespace hostler::driver
