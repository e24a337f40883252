#include "core/api/feeds.h"
#include "core/api/handlers.h"
#include "core/api/views_json.h"
#include "core/json/reader.h"

namespace hostler::api {
namespace {

Result<model::InstanceId> path_instance(const Request& request) {
  const auto id = model::InstanceId::parse(request.path[2]);
  if (id) return *id;
  return fail(Errc::kInvalidArgument,
              "'" + printable(request.path[2], 40) + "' is no instance id (such as h-7)");
}

/// `{"name": [ ... ]}`
template <class T>
Answer<std::vector<T>> list_answer(Respond respond, const char* name,
                                   void (*write)(json::Writer&, const T&)) {
  return json_answer<std::vector<T>>(std::move(respond),
                                     [name, write](json::Writer& w, const std::vector<T>& list) {
                                       w.begin_object().key(name).begin_array();
                                       for (const T& one : list) write(w, one);
                                       w.end_array().end_object();
                                     });
}

}  // namespace

void get_instances(const Context& context, Request request, Respond respond) {
  context.service->instances(request.who,
                             list_answer(std::move(respond), "instances", write_instance));
}
void get_console(const Context& context, Request request, Respond respond) {
  const auto id = path_instance(request);
  if (!id) return respond(error_response(id.error()));
  context.service->console(request.who, *id,
                           json_answer<model::ConsoleView>(std::move(respond), write_console));
}
void get_pools(const Context& context, Request request, Respond respond) {
  context.service->pools(request.who, list_answer(std::move(respond), "pools", write_pool));
}
void get_types(const Context& context, Request request, Respond respond) {
  context.service->types(request.who, list_answer(std::move(respond), "types", write_type));
}
void get_sets(const Context& context, Request request, Respond respond) {
  context.service->sets(request.who, list_answer(std::move(respond), "sets", write_set));
}
void post_accept_account(const Context& context, Request request, Respond respond) {
  context.service->accept_account(request.who, request.path[2], empty_answer(std::move(respond)));
}

/// The number is that of the list which the admin has seen: a newer one may omit others.
void post_believe(const Context& context, Request request, Respond respond) {
  std::uint64_t list = 0;
  const auto read = json::read_object(
      request.body, {}, [&](json::Object& o) { o.need("list").integer(list, 1, INT64_MAX); });
  if (!read) return respond(error_response(read.error()));
  context.service->believe(request.who, request.path[2], list, empty_answer(std::move(respond)));
}
void post_give_up(const Context& context, Request request, Respond respond) {
  context.service->give_up(request.who, request.path[2], empty_answer(std::move(respond)));
}
void get_gates(const Context& context, Request request, Respond respond) {
  context.service->gates(request.who, list_answer(std::move(respond), "gates", write_gate));
}

/// The key is in the body: it has spaces, and may have any characters of a configured name.
void post_open_gate(const Context& context, Request request, Respond respond) {
  std::string key;
  const auto read = json::read_object(request.body, {}, [&](json::Object& o) {
    o.need("key").text(key, {.bytes_max = kGateKeyMax, .bytes_min = 1, .one_line = true});
  });
  if (!read) return respond(error_response(read.error()));
  context.service->open_gate(request.who, key, empty_answer(std::move(respond)));
}

void post_idle_behavior(const Context& context, Request request, Respond respond) {
  const auto id = path_instance(request);
  if (!id) return respond(error_response(id.error()));
  context.service->set_idle_behavior(request.who, *id, *model::parse_idle_behavior(request.path[3]),
                                     empty_answer(std::move(respond)));
}

void post_kill(const Context& context, Request request, Respond respond) {
  const auto id = path_instance(request);
  if (!id) return respond(error_response(id.error()));
  std::string reason;
  if (!request.body.empty()) {
    const auto read = json::read_object(request.body, {}, [&](json::Object& o) {
      o.may("reason").text(reason, {.bytes_max = 300, .one_line = true});
    });
    if (!read) return respond(error_response(read.error()));
  }
  context.service->kill(request.who, *id, reason, empty_answer(std::move(respond)));
}

void post_ready(const Context& context, Request request, Respond respond) {
  const auto id = path_instance(request);
  if (!id) return respond(error_response(id.error()));
  context.service->report_ready(request.who, *id, empty_answer(std::move(respond)));
}

void get_why(const Context& context, Request request, Respond respond) {
  const std::string subject = request.query_or("subject", "");
  constexpr std::size_t kSubjectMax = std::string_view("gate ").size() + kGateKeyMax;
  if (subject.size() > kSubjectMax)
    return respond(error_response(
        {Errc::kInvalidArgument, "?subject= has " + std::to_string(subject.size()) +
                                     " bytes, the longest has " + std::to_string(kSubjectMax)}));
  if (subject.empty())
    return respond(error_response({Errc::kInvalidArgument,
                                   "?subject= names what is asked about: j-42, l-3, h-7, pool "
                                   "default, set local, gate KEY"}));
  context.service->why(request.who, subject, json_answer<WhyView>(std::move(respond), write_why));
}

void get_events(const Context& context, Request request, Respond respond) {
  const auto after = query_number(request, "after", 0, INT64_MAX);
  if (!after) return respond(error_response(after.error()));
  const auto limit = query_number(request, "limit", 1000, 10'000);
  if (!limit) return respond(error_response(limit.error()));
  const auto follow = query_flag(request, "follow", true);
  if (!follow) return respond(error_response(follow.error()));
  if (*follow) {
    Response response;
    response.feed = follow_events(*context.service, request.who, *after);
    return respond(std::move(response));
  }
  context.service->events(request.who, *after, static_cast<std::size_t>(*limit),
                          list_answer(std::move(respond), "events", write_ledger));
}

}  // namespace hostler::api
