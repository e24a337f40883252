#include "core/demand/price_bound.h"

#include <algorithm>
#include <utility>

#include "core/base/saturating.h"

namespace hostler::demand {

PriceBound::PriceBound(std::vector<Share> shares) {
  std::ranges::sort(shares);
  const Share* last = nullptr;
  for (const Share& share : shares) {
    if (last == nullptr || *last != share) buckets_.emplace_back();
    Bucket& bucket = buckets_.back();
    ++bucket.principals;
    bucket.most = share.left;
    // The sum of many principals without a limit of price would pass the largest number.
    bucket.all.left.value = add_saturating(bucket.all.left.value, share.left.value);
    bucket.all.items += share.items;
    bucket.vcpus_most = share.vcpus;
    bucket.all.vcpus = share.vcpus * static_cast<std::int64_t>(bucket.principals);
    last = &share;
  }
  if (buckets_.size() <= kBucketsMax) return;
  std::vector<Bucket> few(kBucketsMax);
  for (Bucket& one : few) one.vcpus_most = one.all.vcpus = {};
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    Bucket& into = few[i * kBucketsMax / buckets_.size()];
    into.principals += buckets_[i].principals;
    into.most = buckets_[i].most;
    into.all.left.value = add_saturating(into.all.left.value, buckets_[i].all.left.value);
    into.all.items += buckets_[i].all.items;
    into.vcpus_most = std::max(into.vcpus_most, buckets_[i].vcpus_most);
    into.all.vcpus += buckets_[i].all.vcpus;
  }
  buckets_ = std::move(few);
}

PriceBound PriceBound::of_buckets(std::vector<Bucket> buckets) {
  PriceBound out({});
  out.buckets_ = std::move(buckets);
  return out;
}

namespace {

/// The part that an item takes. Each of several principals keeps a rest that pays for no item.
std::int64_t charge(const PriceBound::Bucket& of, std::int64_t most, std::int64_t each) {
  return of.principals == 1 ? each : most / (most / each);
}

/// How many items that take so much each can be paid for with `left`, at most `wanted`.
std::uint64_t payable(const PriceBound::Bucket& of, std::int64_t left, std::int64_t most,
                      std::int64_t each, std::uint64_t wanted) {
  if (each <= 0) return wanted;
  if (each > most) return 0;
  return std::min(wanted, static_cast<std::uint64_t>(left / charge(of, most, each)));
}

}  // namespace

std::uint64_t PriceBound::Bucket::count(model::Micros each, std::uint64_t wanted,
                                        model::Vcpus vcpus) const {
  const std::uint64_t paid =
      payable(*this, all.left.value, most.value, each.value, std::min(wanted, all.items));
  return payable(*this, all.vcpus.thousandths(), vcpus_most.thousandths(), vcpus.thousandths(),
                 paid);
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
    const auto n = static_cast<std::int64_t>(count);
    if (each.value > 0) bucket.all.left.value -= charge(bucket, bucket.most.value, each.value) * n;
    if (vcpus > 0)
      bucket.all.vcpus -= model::Vcpus::of_thousandths(
          charge(bucket, bucket.vcpus_most.thousandths(), vcpus.thousandths()) * n);
    items -= count;
  }
}

}  // namespace hostler::demand
