#include "core/api/connections.h"

#include <utility>

namespace hostler::api {

Connections::Place::~Place() {
  const MutexLock lock(all_->mutex_);
  if (state_ == State::kUnproven) all_->unproven_.erase(at_);
  if (state_ != State::kCut) all_->forget(*this);
}

bool Connections::Place::prove(const std::string& token) {
  const MutexLock lock(all_->mutex_);
  if (state_ != State::kUnproven) return true;
  unsigned& open = all_->of_token_[token];
  if (open >= all_->bounds_.of_source) return false;
  ++open;
  token_ = token;
  all_->unproven_.erase(at_);
  state_ = State::kProven;
  return true;
}

void Connections::Place::on_cut(std::function<void()> cut) {
  MutexLock lock(all_->mutex_);
  if (state_ != State::kCut) {
    cut_ = std::move(cut);
    return;
  }
  lock.unlock();
  cut();
}

void Connections::set_bounds(Bounds bounds) {
  const MutexLock lock(mutex_);
  bounds_ = bounds;
}

std::shared_ptr<Connections::Place> Connections::take(Kind kind, const std::string& source) {
  std::function<void()> cut_other;
  MutexLock lock(mutex_);
  Counts& counts = counts_[kind];
  const auto known = counts.of_source.find(source);
  const unsigned of_source = known == counts.of_source.end() ? 0 : known->second.open;
  // Of the admins, each may have as many as all.
  const bool source_is_full = kind != Kind::kAdmin && of_source >= bounds_.of_source;
  if (source_is_full || counts.all >= bounds_.all) {
    Place* const other =
        kind == Kind::kTcp ? oldest_unproven(source_is_full ? &source : nullptr) : nullptr;
    if (other == nullptr) return nullptr;
    cut_other = cut(*other);
  }
  Source& its = counts.of_source[source];
  std::shared_ptr<Place> out(new Place(shared_from_this(), kind, source, its.share));
  ++counts.all;
  ++its.open;
  if (kind == Kind::kTcp) {
    out->state_ = Place::State::kUnproven;
    out->at_ = unproven_.insert(unproven_.end(), out.get());
  }
  lock.unlock();
  if (cut_other) cut_other();
  return out;
}

Connections::Place* Connections::oldest_unproven(const std::string* source) const {
  for (Place* const place : unproven_)
    if (source == nullptr || place->source_ == *source) return place;
  return nullptr;
}

std::function<void()> Connections::cut(Place& place) {
  unproven_.erase(place.at_);
  place.state_ = Place::State::kCut;
  forget(place);
  return std::exchange(place.cut_, nullptr);
}

void Connections::forget(const Place& place) {
  Counts& counts = counts_[place.kind_];
  --counts.all;
  const auto of_source = counts.of_source.find(place.source_);
  if (--of_source->second.open == 0) counts.of_source.erase(of_source);
  const auto of_token = of_token_.find(place.token_);
  if (of_token != of_token_.end() && --of_token->second == 0) of_token_.erase(of_token);
}

}  // namespace hostler::api
