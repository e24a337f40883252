#pragma once

#include <memory>

#include "core/api/http.h"

/// Streams of server-sent events. A feed keeps a cursor and no queue, so a slow reader costs no
/// memory, and a client that reconnects continues from its cursor.
namespace hostler::api {

/// Ledger records after revision `after`: `id: REV`, `data: {record}`.
std::shared_ptr<Feed> follow_events(Service& service, const Principal& who, model::Revision after);

/// A job's output from the query's offset to its end, then that of each later attempt from the
/// start: `data: {attempt, offset, lost, ended, complete, text | hex}`.
std::shared_ptr<Feed> follow_output(Service& service, const Principal& who, model::WorkId job,
                                    const OutputQuery& query);

/// An event of the kind "error": the last of a feed.
std::string error_event(const Error& error);
/// The pieces of `source`, as they are.
std::shared_ptr<Feed> send_bytes(std::shared_ptr<ByteSource> source);

}  // namespace hostler::api
