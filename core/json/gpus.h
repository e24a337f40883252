#pragma once

#include <cstdint>

#include "core/json/reader.h"
#include "core/json/writer.h"
#include "core/model/gpus.h"

/// The value of the key `gpus`, wherever it is read or written: of work, of types, of hosts. A
/// number where nothing else is said, else {"count": 2, "kind": "a100", "memory": "40GiB"}.
namespace hostler::json {

/// Reads what work asks for. False: `count` and `wish` are as before, and the problem is told
/// unless the field is absent.
bool read_gpus(const Field& field, std::int32_t& count, model::GpuWish& wish);
/// Likewise what a type or a host has: also a list of such objects, no two of one kind and memory.
bool read_gpus(const Field& field, std::int32_t& count, model::GpuGroups& groups);

/// Writes the member `gpus`; nothing if there are none.
void write_gpus(Writer& w, std::int32_t count, const model::GpuWish& wish);
void write_gpus(Writer& w, std::int32_t count, const model::GpuGroups& groups);
/// The value alone, also 0: the object of one group, the list of several.
void write_gpus_value(Writer& w, std::int32_t count, const model::GpuGroups& groups);

}  // namespace hostler::json
