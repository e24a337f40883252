#pragma once

#include <string_view>

#include "core/base/error.h"
#include "core/json/writer.h"
#include "core/model/push.h"
#include "core/model/views.h"

/// Pushes of an outside scheduler and the answers to them, as JSON (docs/pushed.md). No
/// I/O, any thread.
namespace hostler::api {

/// Reads a push, and checks it. Errors name the path of the member: kInvalidArgument, or kTooLarge
/// where there is more of something than core/model/push.h allows.
Result<model::Push> read_push(std::string_view json);

void write_push_answer(json::Writer& w, const model::PushAnswer& answer);

/// `with_ids`: also how the scheduler calls its tasks.
void write_scaling_info(json::Writer& w, const model::ScalingInfoView& view, bool with_ids);

}  // namespace hostler::api
