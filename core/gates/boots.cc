#include "core/gates/boots.h"

#include <algorithm>

namespace hostler::gates {
namespace {

using model::GateRecord;

constexpr std::uint32_t kInARow = 3;
constexpr std::size_t kLooksBack = 10;
constexpr std::uint32_t kTypesMax = 3;

GateRecord boot_gate(const GateQuery& boot, std::uint32_t scope, const std::string& text) {
  GateRecord out;
  out.set = boot.set;
  out.op = model::CloudOp::kCreate;
  out.cls = model::CloudErrorClass::kBoot;
  out.scope = model::scope::kOperation | scope;
  out.pool = boot.pool;
  out.message = text;
  out.key = out.set + " " + to_string(out.cls) + " pool=" + out.pool;
  return out;
}

GateRecord gate_of_kind(const GateQuery& boot, const std::string& text) {
  using namespace model::scope;
  GateRecord out = boot_gate(boot, kType | kZone | kMarket, text);
  out.type = boot.type;
  out.zone = boot.zone;
  out.market = boot.market;
  out.key += " type=" + out.type + " zone=" + out.zone + " market=" + to_string(boot.market);
  return out;
}

GateRecord gate_of_image(const GateQuery& boot, const std::string& text) {
  GateRecord out = boot_gate(boot, 0, text);
  out.image = boot.image;
  out.key += " image=" + out.image;
  return out;
}

}  // namespace

std::vector<GateRecord> BootHistory::failed(const GateQuery& boot, bool init,
                                            const std::string& text) {
  std::vector<GateRecord> out;
  Kind& kind = kinds_[{boot.set, boot.pool, boot.type, boot.zone, boot.market}];
  kind.last.push_back(false);
  if (kind.last.size() > kLooksBack) kind.last.pop_front();
  ++kind.in_a_row;
  const auto failures = static_cast<std::size_t>(std::ranges::count(kind.last, false));
  if (kind.in_a_row >= kInARow)
    out.push_back(gate_of_kind(
        boot, std::to_string(kind.in_a_row) + " new hosts in a row did not come up: " + text));
  else if (2 * failures >= kLooksBack)
    out.push_back(gate_of_kind(boot, std::to_string(failures) + " of the last " +
                                         std::to_string(kind.last.size()) +
                                         " new hosts did not come up: " + text));

  Image& image = images_[{boot.set, boot.pool, boot.image}];
  image.init_in_a_row = init ? image.init_in_a_row + 1 : 0;
  if (image.types.size() < kTypesMax) image.types.insert(boot.type);
  if (image.init_in_a_row >= kInARow)
    out.push_back(gate_of_image(
        boot, std::to_string(image.init_in_a_row) + " init commands in a row failed: " + text));
  else if (image.types.size() >= kTypesMax)
    out.push_back(
        gate_of_image(boot, "new hosts of several types did not come up with this image: " + text));
  return out;
}

void BootHistory::succeeded(const GateQuery& boot) {
  Kind& kind = kinds_[{boot.set, boot.pool, boot.type, boot.zone, boot.market}];
  kind.last.push_back(true);
  if (kind.last.size() > kLooksBack) kind.last.pop_front();
  kind.in_a_row = 0;
  images_.erase({boot.set, boot.pool, boot.image});
}

}  // namespace hostler::gates
