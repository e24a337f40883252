#include "core/demand/price_bound.h"

#include <algorithm>
#include <utility>

#include "core/base/saturating.h"

namespace hostler::demand {

namespace {

using Values = model::Amounts::Values;

/// One principal more, or several: the sum of many without a limit would pass the largest number.
void add(const PriceBound::Bucket& other, PriceBound::Bucket& to) {
  to.principals += other.principals;
  to.all.items += other.all.items;
  Values left = to.all.left.values(), most = to.most.values();
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = add_saturating(left[i], other.all.left.values()[i]);
    most[i] = std::max(most[i], other.most.values()[i]);
  }
  to.all.left = model::Amounts::of(left);
  to.most = model::Amounts::of(most);
}

}  // namespace

PriceBound::PriceBound(std::vector<Share> shares) {
  std::ranges::sort(shares);
  const Share* last = nullptr;
  for (const Share& share : shares) {
    if (last == nullptr || *last != share) buckets_.push_back({.most = {}, .all = {}});
    add({.principals = 1, .most = share.left, .all = share}, buckets_.back());
    last = &share;
  }
  if (buckets_.size() <= kBucketsMax) return;
  std::vector<Bucket> few(kBucketsMax, Bucket{.most = {}, .all = {}});
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    add(buckets_[i], few[i * kBucketsMax / buckets_.size()]);
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

std::uint64_t PriceBound::Bucket::count(const model::Amounts& each, std::uint64_t wanted) const {
  const Values left = all.left.values(), most_of = most.values(), of_each = each.values();
  wanted = std::min(wanted, all.items);
  for (std::size_t i = 0; i < left.size(); ++i)
    wanted = payable(*this, left[i], most_of[i], of_each[i], wanted);
  return wanted;
}

std::uint64_t PriceBound::count(const model::Amounts& each, std::uint64_t wanted) const {
  std::uint64_t out = 0;
  for (const Bucket& bucket : buckets_) {
    if (out == wanted) break;
    out += bucket.count(each, wanted - out);
  }
  return out;
}

void PriceBound::take(const model::Amounts& each, std::uint64_t items) {
  const Values of_each = each.values();
  for (Bucket& bucket : buckets_) {
    const std::uint64_t count = bucket.count(each, items);
    if (count == 0) continue;
    bucket.all.items -= count;
    items -= count;
    Values left = bucket.all.left.values();
    for (std::size_t i = 0; i < left.size(); ++i)
      if (of_each[i] > 0)
        left[i] -=
            charge(bucket, bucket.most.values()[i], of_each[i]) * static_cast<std::int64_t>(count);
    bucket.all.left = model::Amounts::of(left);
  }
}

}  // namespace hostler::demand
