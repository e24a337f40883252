#include "state_file.h"

#include <fcntl.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <hostler/driver.hpp>
#include <hostler/json_object.hpp>
#include <memory>

#include "machines.h"

namespace inventory {
namespace {

using hostler::driver::JsonObject;

[[noreturn]] void fail(const std::string& doing) {
  throw hostler::driver::Error(HOSTLER_E_TRANSIENT, doing + ": " + std::strerror(errno));
}

std::string to_json(const State& state) {
  rapidjson::StringBuffer out;
  rapidjson::Writer<rapidjson::StringBuffer> w(out);
  const auto text = [&](const std::string& s) {
    w.String(s.data(), static_cast<rapidjson::SizeType>(s.size()));
  };
  w.StartObject();
  w.Key("last"), w.Int64(state.last);
  w.Key("lendings"), w.StartArray();
  for (const auto& [key, one] : state.lendings) {
    w.StartObject();
    w.Key("key"), text(key), w.Key("id"), text(one.id), w.Key("machine"), text(one.machine);
    w.Key("since_ns"), w.Int64(one.since_ns), w.Key("over"), w.Bool(one.over);
    w.Key("tags"), w.StartObject();
    for (const auto& [name, value] : one.tags) text(name), text(value);
    w.EndObject(), w.EndObject();
  }
  w.EndArray(), w.EndObject();
  return out.GetString();
}

State read_state(const std::string& path) {
  State out;
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return out;
  rapidjson::Document document;
  const std::string text = read_file(path);
  JsonObject json = JsonObject::parse(text, document, "state_file");
  out.last = json.integer("last", 0, 0, INT64_MAX);
  for (JsonObject& one : json.objects("lendings")) {
    Lending& lending = out.lendings[one.text("key", "")];
    lending.id = one.text("id", "");
    lending.machine = one.text("machine", "");
    lending.since_ns = one.integer("since_ns", 0, 0, INT64_MAX);
    lending.over = one.boolean("over", false);
    if (auto tags = one.object("tags"))
      for (const std::string& name : tags->keys())
        lending.tags[name] = tags->text(name.c_str(), "");
  }
  return out;
}

// A new file takes the place of the old one, so that a reader sees one of them whole.
void write_state(const std::string& path, const State& state) {
  const std::string fresh = path + ".new";
  std::ofstream file(fresh, std::ios::binary);
  file << to_json(state);
  file.close();
  if (!file) fail("write " + fresh);
  if (std::rename(fresh.c_str(), path.c_str()) != 0) fail("replace " + path);
}

}  // namespace

State StateFile::read() const { return read_state(path_); }

void StateFile::update(const std::function<void(State&)>& change) const {
  const int fd = ::open((path_ + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) fail("open " + path_ + ".lock");
  const std::unique_ptr<const int, void (*)(const int*)> closed(&fd,
                                                                [](const int* f) { ::close(*f); });
  while (::flock(fd, LOCK_EX) != 0)
    if (errno != EINTR) fail("lock " + path_);
  State state = read_state(path_);
  change(state);
  write_state(path_, state);
}

}  // namespace inventory
