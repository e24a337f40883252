#include "answer.h"

#include <rapidjson/error/en.h>

#include "errors.h"

namespace hostler::lxd {
namespace {

const Value* find(const Value& object, std::string_view key) {
  if (!object.IsObject()) return nullptr;
  const auto found = object.FindMember(
      Value(rapidjson::StringRef(key.data(), static_cast<rapidjson::SizeType>(key.size()))));
  return found == object.MemberEnd() ? nullptr : &found->value;
}

}  // namespace

void throw_not_lxd(const std::string& what) {
  throw NoAnswer(HOSTLER_E_TRANSIENT, "the answer is not one of LXD: " + what, false);
}

Answer Answer::read(const HttpAnswer& http) {
  const std::string status = "status " + std::to_string(http.status);
  Answer out;
  // Iterative: a recursive parser can be made to overflow the stack.
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  out.document_.Parse<kFlags>(http.body.data(), http.body.size());
  if (http.status == kNotAvailable) {
    const std::string why = text_of(out.document_, "error");
    throw NoAnswer(HOSTLER_E_TRANSIENT, "LXD does not answer now: " + (why.empty() ? status : why),
                   false);
  }
  if (out.document_.HasParseError())
    throw_not_lxd(status + ", " + std::to_string(http.body.size()) + " bytes, no JSON at byte " +
                  std::to_string(out.document_.GetErrorOffset()) + " (" +
                  rapidjson::GetParseError_En(out.document_.GetParseError()) + ")");
  const std::string type = text_of(out.document_, "type");
  if (type == "error") {
    const std::int64_t code = number_of(out.document_, "error_code");
    throw Refused(static_cast<int>(code != 0 ? code : http.status),
                  text_of(out.document_, "error"));
  }
  if (http.status < 200 || http.status > 299 || (type != "sync" && type != "async"))
    throw_not_lxd(status + ", type \"" + type + "\"");
  if (find(out.document_, "metadata") == nullptr) throw_not_lxd("it has no metadata");
  if (type == "async") {
    out.operation_ = text_of(out.document_, "operation");
    out.operation_ = out.operation_.substr(0, out.operation_.find('?'));  // a cluster adds one
    constexpr std::string_view kBegin = "/1.0/operations/";
    if (out.operation_.compare(0, kBegin.size(), kBegin) != 0 ||
        out.operation_.find_first_of(" #") != std::string::npos)
      throw_not_lxd("it has no operation");
  }
  return out;
}

std::string text_of(const Value& object, std::string_view key) {
  const Value* const value = find(object, key);
  return value != nullptr && value->IsString()
             ? std::string(value->GetString(), value->GetStringLength())
             : std::string();
}

std::int64_t number_of(const Value& object, std::string_view key) {
  const Value* const value = find(object, key);
  return value != nullptr && value->IsInt64() ? value->GetInt64() : 0;
}

bool truth_of(const Value& object, std::string_view key) {
  const Value* const value = find(object, key);
  return value != nullptr && value->IsBool() && value->GetBool();
}

const Value* object_of(const Value& object, std::string_view key) {
  const Value* const value = find(object, key);
  return value != nullptr && value->IsObject() ? value : nullptr;
}

bool list_has(const Value& object, std::string_view key, std::string_view item) {
  const Value* const list = find(object, key);
  if (list == nullptr || !list->IsArray()) return false;
  for (const Value& one : list->GetArray())
    if (one.IsString() && std::string_view(one.GetString(), one.GetStringLength()) == item)
      return true;
  return false;
}

}  // namespace hostler::lxd
