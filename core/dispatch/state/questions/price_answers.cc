#include "core/dispatch/state/questions/price_answers.h"

#include <algorithm>

namespace hostler::dispatch {

std::vector<std::string> PriceAnswers::keep(std::uint32_t set,
                                            const std::vector<std::string>& types,
                                            std::optional<double> rate) {
  std::map<std::string, PriceAnswer> kept;
  std::vector<std::string> unknown;
  for (const auto& type : types) {
    const auto before = by_set_.at(set).find(type);
    PriceAnswer& answer = kept[type];
    if (before != by_set_.at(set).end()) answer = before->second;
    if (answer.is_known(rate)) {
      answer.since = fleet::kNever;
    } else {
      if (answer.rate) answer = {};
      unknown.push_back(type);
    }
  }
  by_set_.at(set) = std::move(kept);
  return unknown;
}

void PriceAnswers::wanted(std::uint32_t set, const std::string& type, std::optional<double> rate,
                          Mono now) {
  const auto found = by_set_.at(set).find(type);
  if (found == by_set_.at(set).end() || found->second.is_known(rate)) return;
  found->second.since = std::min(found->second.since, now);
}

void PriceAnswers::refused(std::uint32_t set, const std::string& type, const std::string& error) {
  const auto found = by_set_.at(set).find(type);
  if (found != by_set_.at(set).end() && found->second.since != fleet::kNever)
    found->second.error = error;
}

bool PriceAnswers::answered(std::uint32_t set, const std::string& type,
                            std::optional<double> rate) {
  const auto found = by_set_.at(set).find(type);
  if (found == by_set_.at(set).end() || !rate) return false;
  const bool is_news = !found->second.is_known(rate);
  found->second = {.rate = rate};
  return is_news;
}

void PriceAnswers::closed(std::uint32_t set) {
  for (auto& [type, answer] : by_set_.at(set))
    if (answer.since != fleet::kNever) answer = {};
}

std::vector<std::string> PriceAnswers::take_given_up(std::uint32_t set, Mono now) {
  std::vector<std::string> out;
  for (auto& [type, answer] : by_set_.at(set)) {
    if (answer.told || !is_given_up(answer, now)) continue;
    answer.told = true;
    out.push_back(type);
  }
  return out;
}

Mono PriceAnswers::next_wake() const {
  Mono next = fleet::kNever;
  for (const auto& answers : by_set_)
    for (const auto& [type, answer] : answers) next = std::min(next, given_up_at(answer));
  return next;
}

}  // namespace hostler::dispatch
