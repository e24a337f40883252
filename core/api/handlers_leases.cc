#include "core/api/access.h"
#include "core/api/handlers.h"
#include "core/api/lease_codec.h"
#include "core/json/reader.h"

namespace hostler::api {
namespace {

void write_detail(json::Writer& w, const LeaseDetail& detail, const Principal& who) {
  write_lease(w, detail.lease, detail.now, sight_of(who, detail.lease.work.principal));
}

/// Writes the first id, and all of a gang.
void write_lease_ids(json::Writer& w, const std::vector<model::WorkId>& ids) {
  w.begin_object().member("id", ids.at(0).text());
  if (ids.size() > 1) {
    w.key("ids").begin_array();
    for (const auto& id : ids) w.value(id.text());
    w.end_array();
  }
  w.end_object();
}

}  // namespace

void post_lease(const Context& context, Request request, Respond respond) {
  const auto spec = read_lease(request.body, context.limits.job);
  if (!spec) return respond(error_response(spec.error()));
  context.service->submit_lease(
      request.who, submitted_lease(*spec),
      json_answer<std::vector<model::WorkId>>(std::move(respond), write_lease_ids));
}

void post_dry_run_lease(const Context& context, Request request, Respond respond) {
  const auto spec = read_lease(request.body, context.limits.job);
  if (!spec) return respond(error_response(spec.error()));
  context.service->dry_run_lease(request.who, submitted_lease(*spec),
                                 text_answer(std::move(respond)));
}

void get_leases(const Context& context, Request request, Respond respond) {
  const auto filter = read_filter(request);
  if (!filter) return respond(error_response(filter.error()));
  context.service->leases(
      request.who, *filter,
      json_answer<LeasePage>(std::move(respond),
                             [who = request.who](json::Writer& w, const LeasePage& page) {
                               w.begin_object().key("leases").begin_array();
                               for (const auto& one : page.leases) write_detail(w, one, who);
                               w.end_array();
                               if (page.next) w.member("next", page.next.text());
                               w.end_object();
                             }));
}

void get_lease(const Context& context, Request request, Respond respond) {
  const auto id = path_work(request);
  if (!id) return respond(error_response(id.error()));
  context.service->lease(
      request.who, *id,
      json_answer<LeaseDetail>(std::move(respond),
                               [who = request.who](json::Writer& w, const LeaseDetail& detail) {
                                 write_detail(w, detail, who);
                               }));
}

/// Without a body the host counts as used, which is never wrong.
void post_return(const Context& context, Request request, Respond respond) {
  const auto id = path_work(request);
  if (!id) return respond(error_response(id.error()));
  bool used = true;
  if (!request.body.empty()) {
    const auto read =
        json::read_object(request.body, {}, [&](json::Object& o) { o.may("used").boolean(used); });
    if (!read) return respond(error_response(read.error()));
  }
  context.service->return_lease(request.who, *id, used, empty_answer(std::move(respond)));
}

void post_renew(const Context& context, Request request, Respond respond) {
  const auto id = path_work(request);
  if (!id) return respond(error_response(id.error()));
  Duration term{};
  const auto read = json::read_object(request.body, {}, [&](json::Object& o) {
    o.need("for").duration(term, model::kTermMin, model::kTermMax);
  });
  if (!read) return respond(error_response(read.error()));
  context.service->renew_lease(request.who, *id, term, empty_answer(std::move(respond)));
}

}  // namespace hostler::api
