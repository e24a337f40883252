#include "core/demand/price_bound.h"

#include <algorithm>
#include <utility>

namespace hostler::demand {

PriceBound::PriceBound(std::vector<Share> shares) {
  std::ranges::sort(shares);
  const Share* last = nullptr;
  for (const Share& share : shares) {
    if (last == nullptr || *last != share) buckets_.emplace_back();
    Bucket& bucket = buckets_.back();
    ++bucket.principals;
    bucket.most = share.left;
    bucket.all.left += share.left;
    bucket.all.items += share.items;
    bucket.all.vcpus_most = share.vcpus_most;
    last = &share;
  }
  if (buckets_.size() <= kBucketsMax) return;
  std::vector<Bucket> few(kBucketsMax);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    Bucket& into = few[i * kBucketsMax / buckets_.size()];
    into.principals += buckets_[i].principals;
    into.most = buckets_[i].most;
    into.all.left += buckets_[i].all.left;
    into.all.items += buckets_[i].all.items;
    into.all.vcpus_most = std::min(into.all.vcpus_most, buckets_[i].all.vcpus_most);
  }
  buckets_ = std::move(few);
}

PriceBound PriceBound::of_buckets(std::vector<Bucket> buckets) {
  PriceBound out({});
  out.buckets_ = std::move(buckets);
  return out;
}

/// What an item takes of the bucket: of several principals each keeps a rest that pays for none.
model::Micros PriceBound::Bucket::charge(model::Micros each) const {
  return principals == 1 ? each : model::Micros{most.value / (most.value / each.value)};
}

std::uint64_t PriceBound::Bucket::count(model::Micros each, std::uint64_t wanted,
                                        model::Vcpus vcpus) const {
  if (vcpus > all.vcpus_most) return 0;
  const std::uint64_t less = std::min(wanted, all.items);
  if (each.value <= 0) return less;
  if (each > most) return 0;
  return std::min(less, static_cast<std::uint64_t>(all.left.value / charge(each).value));
}

std::uint64_t PriceBound::count(model::Micros each, std::uint64_t wanted,
                                model::Vcpus vcpus) const {
  std::uint64_t out = 0;
  for (const Bucket& bucket : buckets_) {
    if (out == wanted) break;
    out += bucket.count(each, wanted - out, vcpus);
  }
  return out;
}

void PriceBound::take(model::Micros each, std::uint64_t items, model::Vcpus vcpus) {
  for (Bucket& bucket : buckets_) {
    const std::uint64_t count = bucket.count(each, items, vcpus);
    if (count == 0) continue;
    bucket.all.items -= count;
    if (each.value > 0)
      bucket.all.left.value -= bucket.charge(each).value * static_cast<std::int64_t>(count);
    items -= count;
  }
}

}  // namespace hostler::demand
