#include "core/cli/work_text.h"

#include <utility>

#include "core/base/text.h"
#include "core/cli/gpus.h"
#include "core/model/vcpus.h"

namespace hostler::cli {
namespace {

void write_gpus(json::Writer& w, const WorkOptions& o) {
  const auto gpus = parse_gpus(o.gpus).value_or(GpusOption());
  w.key("gpus");
  if (gpus.kind.empty() && o.gpu_memory.empty()) {
    w.value(gpus.count);
    return;
  }
  w.begin_object().member("count", gpus.count);
  if (!gpus.kind.empty()) w.member("kind", gpus.kind);
  if (!o.gpu_memory.empty()) w.member("memory", o.gpu_memory);
  w.end_object();
}

void write_needs(json::Writer& w, const WorkOptions& o) {
  w.key("needs").begin_object();
  if (!o.vcpus.empty())
    w.key("vcpus").thousandths(model::parse_vcpus(o.vcpus).value_or(1).thousandths());
  if (!o.ram.empty()) w.member("ram", o.ram);
  if (!o.scratch.empty()) w.member("scratch", o.scratch);
  if (!o.gpus.empty()) write_gpus(w, o);
  w.end_object();
}

void write_constraints(json::Writer& w, const WorkOptions& o) {
  if (o.type.empty() && o.market.empty() && o.zone.empty()) return;
  w.key("constraints").begin_object();
  if (!o.type.empty()) {
    w.key("types").begin_array();
    for (const auto type : split(o.type, ',')) w.value(type);
    w.end_array();
  }
  if (!o.market.empty()) w.member("market", o.market);
  if (!o.zone.empty()) w.member("zone", o.zone);
  w.end_object();
}

}  // namespace

Result<std::string> argument_text(const std::string& option, std::string value) {
  if (is_utf8(value)) return value;
  return fail(
      Errc::kInvalidArgument,
      option + ": the value must be UTF-8 text; a job gets other bytes in a file (--input)");
}

Result<void> write_work(json::Writer& w, const WorkOptions& o) {
  if (!o.name.empty()) w.member("name", HOSTLER_TRY(argument_text("--name", o.name)));
  write_needs(w, o);
  if (o.priority != 0) w.member("priority", o.priority);
  write_constraints(w, o);
  if (!o.client_key.empty())
    w.member("client_key", HOSTLER_TRY(argument_text("--client-key", o.client_key)));
  return {};
}

Error without_position(Error error) {
  if (const std::size_t at = error.message.rfind(" (at "); at != std::string::npos)
    error.message.resize(at);
  return error;
}

}  // namespace hostler::cli
