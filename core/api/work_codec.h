#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/reader.h"
#include "core/json/writer.h"
#include "core/model/job.h"
#include "core/model/job_limits.h"
#include "core/model/records.h"
#include "core/model/views.h"

/// The JSON that all kinds of work share. No I/O, any thread.
namespace hostler::api {

/// How much of a piece of work somebody sees. kNone: nothing, as if it were not listed. kPublic:
/// its state, times and needs, but nothing that says what it does: no command or script,
/// environment, input, output, client key, and no reason in words, which may quote them. access.h
/// says who sees what.
enum class Sight : std::uint8_t { kNone, kPublic, kAll };

/// Why work waits: the object `waiting_because`.
void write_waiting(json::Writer& w, const model::WaitingView& waiting);

/// Reads the submitted members of every kind. Absent ones leave the defaults; lists are sorted.
void read_common(json::Object& o, const model::JobLimits& limits, model::WorkSpec& out);
/// The row of new work: without what only its kind has. `body` is the whole of it as JSON; equal
/// work has equal text, by which submits with one client key are compared.
model::WorkItem submitted_work(const model::WorkSpec& spec, std::string body);

/// The first members: its id, name and state, and how it ended. `state`: its kind's word.
void write_head(json::Writer& w, const model::WorkItem& work, std::string_view state, Sight sight);
/// The key `needs`; `gpu`: of the constraints.
void write_needs(json::Writer& w, const model::Resources& needs, const model::GpuWish& gpu);
// Left out where there is nothing to say.
void write_constraints(json::Writer& w, const model::Constraints& constraints);
void write_texts(json::Writer& w, std::string_view key, const std::vector<std::string>& texts);
void write_time(json::Writer& w, std::string_view key, Wall time);
/// The cards of one host: the member `cards`.
void write_cards(json::Writer& w, const std::vector<model::CardView>& cards);

}  // namespace hostler::api
