#pragma once

#include <string>

#include "core/json/writer.h"
#include "core/planning/question.h"

/// The functions that write the parts of snapshots and answers. Private to core/planning.
namespace hostler::planning {

/// The members that are not 0, vcpus and ram in any case. `Gpus`: GpuWish of work, GpuGroups of
/// hosts.
template <class Gpus>
void write_resources(json::Writer& w, const model::Resources& resources, const Gpus& gpus);
/// Nothing if they are as many as a reader would take.
void write_slots(json::Writer& w, const model::Resources& resources, std::int32_t usual);
/// How long the time is before `now`; negative ages are 0.
std::string age_of(Mono time, Mono now);
/// Clipped to what readers accept.
void write_money(json::Writer& w, const char* key, model::Micros money);
/// Nothing if the text is empty.
void write_text(json::Writer& w, const char* key, const std::string& text);
void write_constraints(json::Writer& w, const model::Constraints& constraints);

/// The bounds of a pool that the configuration says.
void write_sizes(json::Writer& w, const model::PoolSizes& sizes);
/// The key `scaling`; nothing if all of it is as usual.
void write_scaling(json::Writer& w, const model::ScalingPolicy& scaling);
/// The keys `pushed` and `push` of a pool that an outside scheduler sizes.
void write_pushed(json::Writer& w, const model::PushedPolicy& pushed);
void write_push(json::Writer& w, const LastPush& push);

/// The keys `work_gone` and `work`; without the tasks of pushes that are written.
void write_work(json::Writer& w, const Question& question, std::string& lines);

}  // namespace hostler::planning
