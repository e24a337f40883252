#include "core/api/handlers.h"
#include "core/api/push_codec.h"

/// Requests of outside schedulers that say what their pools need.
namespace hostler::api {
namespace {

const std::string& path_pool(const Request& request) { return request.path.at(2); }

}  // namespace

void put_scaling_info(const Context& context, Request request, Respond respond) {
  if (request.take_memory && !request.take_memory(kPushInMemory * request.body.size()))
    return respond(error_response({Errc::kUnavailable, kTooMuchAtOnce}));
  auto push = read_push(request.body);
  if (!push) return respond(error_response(push.error()));
  context.pushes->add(*context.service, request.who, path_pool(request), *std::move(push),
                      json_answer<model::PushAnswer>(std::move(respond), write_push_answer));
}

/// Tasks are a scheduler's own matter: other clients see how many slots they need, and no names.
void get_scaling_info(const Context& context, Request request, Respond respond) {
  const bool with_ids = request.who.role == Role::kAdmin || request.who.role == Role::kScaler;
  context.service->scaling_info(
      request.who, path_pool(request),
      json_answer<model::ScalingInfoView>(
          std::move(respond), [with_ids](json::Writer& w, const model::ScalingInfoView& view) {
            write_scaling_info(w, view, with_ids);
          }));
}

}  // namespace hostler::api
