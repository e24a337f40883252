#pragma once

#include <memory>

#include "core/api/http.h"

/// What goes on as server-sent events. A feed keeps a cursor and no queue: a slow reader costs
/// nothing and resumes.
namespace hostler::api {

/// Ledger records after `after`: `id: REV`, `data: {record}`.
std::shared_ptr<Feed> follow_events(Service& service, const Principal& who, model::Revision after);

/// A job's output from `offset` to its end: `data: {offset, lost, complete, text | hex}`.
std::shared_ptr<Feed> follow_output(Service& service, const Principal& who, model::JobId job,
                                    Stream stream, std::uint64_t offset);

}  // namespace hostler::api
