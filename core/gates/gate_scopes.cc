#include "core/gates/gate_scopes.h"

#include <algorithm>
#include <string>

#include "core/base/text.h"

namespace hostler::gates {
namespace {

using model::CloudErrorClass;
using model::CloudOp;
using model::GateRecord;

/// A start needs stock and quota as a create does, so the gates of creates hold for it.
CloudOp gated(CloudOp op) { return op == CloudOp::kStart ? CloudOp::kCreate : op; }

/// One dimension of scopes that has a value: in the call, the error and the gate.
struct Dimension {
  std::uint32_t bit;
  const char* name;
  std::string GateQuery::*of_call;
  std::string model::CloudError::*of_error;
  std::string GateRecord::*of_gate;
};
constexpr Dimension kDimensions[] = {
    {model::scope::kType, "type", &GateQuery::type, &model::CloudError::type, &GateRecord::type},
    {model::scope::kGroup, "group", &GateQuery::group, &model::CloudError::group,
     &GateRecord::group},
    {model::scope::kZone, "zone", &GateQuery::zone, &model::CloudError::zone, &GateRecord::zone},
    {model::scope::kSubnet, "subnet", &GateQuery::subnet, &model::CloudError::subnet,
     &GateRecord::subnet},
    {model::scope::kRegion, "region", &GateQuery::region, &model::CloudError::region,
     &GateRecord::region},
    {model::scope::kImage, "image", &GateQuery::image, &model::CloudError::image,
     &GateRecord::image},
};

/// Scope texts are a driver's: cut at this length.
constexpr std::size_t kScopeTextMax = 128;

/// Set in GateRecord::scope beside the bit of a dimension: the refused call left this dimension to
/// the driver. Drivers cannot set it: the plugin host keeps the nine bits of the ABI only.
constexpr std::uint32_t left_to_driver(std::uint32_t bit) { return bit << 16; }

/// Set in GateRecord::scope too: the cloud told the error after it had answered the call.
constexpr std::uint32_t kToldLater = std::uint32_t{1} << 30;

/// The bits of the driver, or the default of the error's class.
std::uint32_t basic_scope(const model::CloudError& error) {
  using namespace model::scope;
  std::uint32_t bits = error.scope;
  switch (error.cls) {
    case CloudErrorClass::kInvalid:
    case CloudErrorClass::kUnsupported:
    case CloudErrorClass::kConflict:
    case CloudErrorClass::kNotFound:
    case CloudErrorClass::kCapacity:
      if ((bits & ~kOperation) == 0) bits |= kType | kZone;
      bits |= kMarket | kOperation;
      break;
    case CloudErrorClass::kQuota:
      if ((bits & ~kOperation) == 0) bits |= kGroup;
      bits |= kOperation;
      break;
    case CloudErrorClass::kInternal:
      bits |= kOperation;
      break;
    default:
      break;
  }
  return bits;
}

bool is_about_a_type(const GateQuery& call) {
  return !call.type.empty() || call.op == CloudOp::kCreate || call.op == CloudOp::kStart;
}

/// The rule of scopes. Each bit of the scope limits the gate in one dimension.
///
/// - The refused call names a value there: the gate is for that value. A text of the driver that
///   contradicts it is ignored, because the refused call must always be within its gate; otherwise
///   it would be made and refused again at once.
/// - The call names none, because hostler leaves the choice to the driver (often the zone,
///   the subnet, the image and the group): nobody knows what the driver chooses next. The gate is
///   for the driver's text, and for calls that leave the choice to the driver as well. So that
///   these are not all calls of the set, it is limited to what was refused: the same type, zone and
///   market. (For a quota group: the same type.)
/// - The region narrows nothing within a set, which has one region.
/// - A call that is about no type, such as a list, is narrowed by its operation only: a rate limit
///   "of this type" that a list meets would else hold nothing that has a type.
///
/// The key is made of the call's values only. So a driver that names another subnet each time makes
/// no new gate each time, and the back-off goes on.
void limit(GateRecord& r, const GateQuery& call, const model::CloudError& error) {
  using namespace model::scope;
  r.scope = basic_scope(error);
  if (!is_about_a_type(call)) {
    r.scope &= kRegion | kAccount | kOperation;
    return;
  }
  for (const Dimension& d : kDimensions) {
    const bool is_left = (error.scope & d.bit) != 0 && (call.*d.of_call).empty() && d.bit != kType;
    if (!is_left) continue;
    r.*d.of_gate = printable(error.*d.of_error, kScopeTextMax);
    if (!(r.*d.of_gate).empty()) r.scope |= left_to_driver(d.bit);
    if (d.bit == kZone || d.bit == kSubnet || d.bit == kImage) r.scope |= kType | kZone | kMarket;
  }
  // Types without a group have no quota in common.
  if ((r.scope & kGroup) != 0 && call.group.empty()) {
    r.scope |= kType;
    if (r.group.empty()) r.scope &= ~kGroup;
  }
  for (const Dimension& d : kDimensions)
    if ((r.scope & d.bit) != 0 && !(call.*d.of_call).empty()) r.*d.of_gate = call.*d.of_call;
  if ((r.scope & kMarket) != 0) r.market = call.market;
}

}  // namespace

bool is_for_good(CloudErrorClass cls, CloudOp op) {
  return op == CloudOp::kCreate &&
         (cls == CloudErrorClass::kInvalid || cls == CloudErrorClass::kUnsupported ||
          cls == CloudErrorClass::kConflict || cls == CloudErrorClass::kNotFound);
}

bool is_of_boots(const GateRecord& r) { return r.cls == CloudErrorClass::kBoot; }

bool was_told_later(const GateRecord& r) { return (r.scope & kToldLater) != 0; }

bool is_of_answers(const GateRecord& r) { return !is_probed_by_boots(r) && !is_of_crashes(r); }

bool leaves_group_to_driver(const GateRecord& r) {
  return (r.scope & left_to_driver(model::scope::kGroup)) != 0;
}

GateRecord record_of(const GateQuery& call, const model::CloudError& error, Told told) {
  using namespace model::scope;
  GateRecord r;
  r.set = call.set;
  r.op = gated(call.op);
  r.cls = error.cls;
  r.message = error.message;
  limit(r, call, error);
  r.key = r.set + " " + to_string(r.cls);
  const auto narrow = [&r](const char* name, const std::string& value) {
    r.key += std::string(" ") + name + "=" + value;
  };
  if ((r.scope & kOperation) != 0) narrow("op", to_string(r.op));
  for (const Dimension& d : kDimensions)
    if ((r.scope & d.bit) != 0) narrow(d.name, call.*d.of_call);
  if (r.market) narrow("market", to_string(*r.market));
  if (told == Told::kLater) r.scope |= kToldLater;
  return r;
}

void count_failure(GateRecord& record, const GateRecord* before, Wall now) {
  constexpr std::uint32_t kCountedMost = 1001;
  record.failures = before == nullptr ? 1 : std::min(before->failures + 1, kCountedMost);
  record.since = before == nullptr ? now : before->since;
}

bool holds(const GateRecord& r, const GateQuery& call) {
  using namespace model::scope;
  const auto is_within = [&](const Dimension& d) {
    const std::string& named = call.*d.of_call;
    const std::string& gated = r.*d.of_gate;
    if ((r.scope & d.bit) == 0 || named == gated) return true;
    if (d.bit == kRegion) return named.empty() || gated.empty();
    return named.empty() && (r.scope & left_to_driver(d.bit)) != 0;
  };
  // A create that is wrong, by its image for example, says nothing about a start. Nor do new hosts
  // and crashes.
  const bool is_exact = is_for_good(r.cls, r.op) || is_of_boots(r) || is_of_crashes(r);
  const CloudOp op = is_exact ? call.op : gated(call.op);
  if (!r.pool.empty() && r.pool != call.pool) return false;
  if (is_of_boots(r) && !r.image.empty() && r.image != call.image) return false;
  if (r.instance.value != 0 && r.instance != call.instance) return false;
  return r.set == call.set && ((r.scope & kOperation) == 0 || r.op == op) &&
         std::ranges::all_of(kDimensions, is_within) &&
         ((r.scope & kMarket) == 0 || r.market == call.market);
}

}  // namespace hostler::gates
