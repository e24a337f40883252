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
    "config": {"type": "object"}
  }
})json";

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
  return {all["driver"].GetString(), all["folder"].GetString(), config.GetString()};
}

}  // namespace hostler::liar
