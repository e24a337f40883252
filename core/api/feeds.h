#pragma once

#include <memory>

#include "core/api/http.h"

/// What goes on as server-sent events. A feed keeps a cursor and no queue: a slow reader costs
/// nothing and resumes.
namespace hostler::api {

/// Ledger records after `after`: `id: REV`, `data: {record}`.
std::shared_ptr<Feed> follow_events(Service& service, const Principal& who, model::Revision after);

/// A job's output from `query`'s offset to its end, of each attempt that comes from its begin:
/// `data: {attempt, offset, lost, complete, text | hex}`.
std::shared_ptr<Feed> follow_output(Service& service, const Principal& who, model::WorkId job,
                                    const OutputQuery& query);

}  // namespace hostler::api
