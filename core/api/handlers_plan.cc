#include "core/api/handlers.h"
#include "core/api/views_json.h"
#include "core/json/reader.h"

/// Questions about plans, about the whole state and about other configurations.
namespace hostler::api {
namespace {

constexpr std::size_t kConfigMax = std::size_t{4} << 20;

}  // namespace

void get_plan(const Context& context, Request request, Respond respond) {
  context.service->plan(request.who, text_answer(std::move(respond)));
}

void get_plan_snapshot(const Context& context, Request request, Respond respond) {
  context.service->plan_snapshot(request.who, text_answer(std::move(respond)));
}

void get_dump(const Context& context, Request request, Respond respond) {
  context.service->dump(request.who, json_answer<DumpView>(std::move(respond), write_dump));
}

void post_config_diff(const Context& context, Request request, Respond respond) {
  std::string text, folder;
  const auto read = json::read_object(
      request.body, {.bytes_max = kConfigBodyMax, .depth_max = 4}, [&](json::Object& o) {
        o.need("text").text(text, {.bytes_max = kConfigMax});
        const json::Field its = o.need("folder");
        if (its.text(folder, {.bytes_max = 4096, .bytes_min = 1, .one_line = true}) &&
            !folder.starts_with('/'))
          its.refuse("an absolute path");
      });
  if (!read) return respond(error_response(read.error()));
  request.body = {};
  context.service->config_diff(request.who, std::move(text), folder,
                               text_answer(std::move(respond)));
}

}  // namespace hostler::api
