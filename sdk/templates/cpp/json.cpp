#include "json.hpp"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace {

// False: it nests too deep, or a text has a NUL, which no text of hostler may have.
bool convert(const rapidjson::Value& from, Json& to, int depth) {
  constexpr int kDepthMax = 32;
  if (depth == kDepthMax) return false;
  if (from.IsString()) {
    to.kind = Json::Kind::kText;
    to.text.assign(from.GetString(), from.GetStringLength());
    return to.text.find('\0') == std::string::npos;
  }
  if (from.IsObject()) {
    to.kind = Json::Kind::kObject;
    for (const auto& [name, value] : from.GetObject()) {
      auto& [key, member] = to.members.emplace_back();
      key.assign(name.GetString(), name.GetStringLength());
      if (!convert(value, member, depth + 1)) return false;
    }
  } else if (from.IsArray()) {
    to.kind = Json::Kind::kArray;
    for (const auto& value : from.GetArray())
      if (!convert(value, to.members.emplace_back().second, depth + 1)) return false;
  } else if (from.IsNumber()) {
    to.kind = Json::Kind::kNumber;
    to.whole = from.IsInt64() ? from.GetInt64() : 0;
  } else {
    to.kind = Json::Kind::kWord;
    if (!from.IsNull()) to.text = from.IsTrue() ? "true" : "false";
  }
  return true;
}

}  // namespace

std::optional<Json> Json::read(std::string_view bytes) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
      bytes.data(), bytes.size());
  Json out;
  if (document.HasParseError() || !convert(document, out, 0)) return std::nullopt;
  return out;
}

const Json& Json::operator[](std::string_view name) const {
  static const Json kNothing;
  for (const auto& [key, value] : members)
    if (key == name) return value;
  return kNothing;
}

std::string Json::quote(std::string_view bytes) {
  rapidjson::StringBuffer out;
  rapidjson::Writer<rapidjson::StringBuffer> writer(out);
  writer.String(bytes.data(), static_cast<rapidjson::SizeType>(bytes.size()));
  return {out.GetString(), out.GetSize()};
}
