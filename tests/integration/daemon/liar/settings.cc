#include "settings.h"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <hostler/driver.hpp>

namespace hostler::liar {

const char* const kSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "required": ["driver", "folder", "config"],
  "properties": {
    "driver": {"type": "string", "pattern": "^/"},
    "folder": {"type": "string", "pattern": "^/"},
    "config": {"type": "object"},
    "label": {"type": "string", "pattern": "^[a-z0-9]+$"},
    "account": {"type": "string"},
    "open": {"enum": ["hang", "crash"]}
  }
})json";

namespace {

std::string optional_text(const rapidjson::Document& all, const char* key) {
  return all.IsObject() && all.HasMember(key) && all[key].IsString() ? all[key].GetString() : "";
}

}  // namespace

std::string read_token(const std::string& credentials) {
  rapidjson::Document all;
  all.Parse(credentials.c_str());
  return all.HasParseError() ? "" : optional_text(all, "token");
}

Settings read_settings(const std::string& json) {
  rapidjson::Document all;
  all.Parse(json.c_str());
  if (all.HasParseError() || !all.IsObject() || !all.HasMember("config"))
    throw driver::Error(HOSTLER_E_INVALID, "driver config: no object with `config`");
  for (const char* key : {"driver", "folder"})
    if (!all.HasMember(key) || !all[key].IsString())
      throw driver::Error(HOSTLER_E_INVALID, std::string("driver config: no text `") + key + "`");
  rapidjson::StringBuffer config;
  rapidjson::Writer<rapidjson::StringBuffer> writer(config);
  all["config"].Accept(writer);
  const std::string label = optional_text(all, "label");
  return {all["driver"].GetString(),
          all["folder"].GetString(),
          config.GetString(),
          label.empty() ? "" : " by " + label,
          optional_text(all, "account"),
          optional_text(all, "open")};
}

}  // namespace hostler::liar
