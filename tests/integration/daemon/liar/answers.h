#pragma once

#include <string_view>
#include <vector>

#include "lies.h"
#include "memory.h"
#include "saved.h"

namespace hostler::liar {

/// What the cloud answers to a list instead of `truth`.
std::vector<Saved> listed(std::vector<Saved> truth, const Lies& lies, Memory& memory);

/// What it answers to a list by ids instead of `truth`. Throws driver::Error.
std::vector<Saved> listed_by_id(std::vector<Saved> truth, const hostler_list_req& request,
                                const Lies& lies, Memory& memory);

/// Instances that are not the set's: half of them have the tags of another set, half have no tags.
/// Emits them one by one, so that there may be very many.
void emit_foreign(std::size_t count, hostler_op* op);

/// The machines of the lie `list own`, which have the tags of the set. One by one, as well.
void emit_own(const Lie& lie, const std::string& set_id, hostler_op* op);

/// The instance that a create has made, as far as the request says what it is.
Saved made_by(const hostler_create_req& request, std::string_view set_id, std::uint32_t state);

/// The refusal that `create capacity` and `create quota` tell.
driver::Error refusal(const Lie& lie);

}  // namespace hostler::liar
