#include "sdk/hosts/protocol/answer.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace hostler::machines {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void put(Writer& writer, const char* name, const std::string& text) {
  writer.Key(name);
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void put(Writer& writer, const char* name, std::int64_t number) {
  writer.Key(name);
  writer.Int64(number);
}

/// {"ok":true, and what `body` adds.
template <class Body>
std::string ok_with(Body body) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  writer.Key("ok");
  writer.Bool(true);
  body(writer);
  writer.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

void put_machine(Writer& writer, const MachineRecord& machine) {
  writer.StartObject();
  put(writer, "id", machine.id);
  put(writer, "key", machine.key);
  put(writer, "state", machine.state);
  put(writer, "address", machine.address);
  put(writer, "port", machine.port);
  put(writer, "user", machine.user);
  put(writer, "host_key", machine.host_key);
  put(writer, "created_ms", machine.created_ms);
  writer.Key("tags");
  writer.StartObject();
  for (const auto& [key, value] : machine.tags) {
    writer.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
    writer.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  writer.EndObject();
  writer.EndObject();
}

/// What a machine prints may be any bytes.
std::string as_ascii(std::string text) {
  std::erase(text, '\r');
  for (char& c : text)
    if ((c < 0x20 && c != '\n' && c != '\t') || c > 0x7e) c = '?';
  return text;
}

}  // namespace

std::string answer_ok() {
  return ok_with([](Writer&) {});
}

std::string answer_failure(const std::string& code, const std::string& message) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  writer.Key("ok");
  writer.Bool(false);
  put(writer, "error", code);
  put(writer, "message", as_ascii(message));
  writer.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

std::string answer_machine(const MachineRecord& machine) {
  return ok_with([&](Writer& writer) {
    writer.Key("machine");
    put_machine(writer, machine);
  });
}

std::string answer_machines(const std::vector<MachineRecord>& machines) {
  return ok_with([&](Writer& writer) {
    writer.Key("machines");
    writer.StartArray();
    for (const MachineRecord& machine : machines) put_machine(writer, machine);
    writer.EndArray();
  });
}

std::string answer_console(const std::string& text) {
  return ok_with([&](Writer& writer) { put(writer, "text", as_ascii(text)); });
}

std::string answer_info(const KeeperInfo& info) {
  return ok_with([&](Writer& writer) {
    put(writer, "mode", info.mode);
    put(writer, "network", info.network);
    put(writer, "user", info.user);
    put(writer, "machines", info.machines);
    put(writer, "machines_max", info.machines_max);
  });
}

}  // namespace hostler::machines
