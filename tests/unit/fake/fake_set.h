#pragma once

#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {

/// A set of the fake cloud. Its clock moves by a second with each call, unless `config` says
/// otherwise, so nothing here waits.
class FakeSet {
 public:
  explicit FakeSet(const std::string& config, const std::string& clock = "steps",
                   Duration patience = kPatience)
      : set_(make_set("fake", {})) {
    SetConfig of;
    of.set_id = "s1";
    of.config_json = R"({"clock": ")" + clock + "\"" + (config.empty() ? "" : ", ") + config + "}";
    Awaited<model::SetInfo> opened;
    set_->open(of, patience, opened.done());
    opened_ = opened.get();
  }

  [[nodiscard]] const model::CloudResult<model::SetInfo>& opened() const { return opened_; }
  DriverSet* operator->() { return set_.get(); }

  static model::CreateRequest request(const std::string& key, const std::string& type = "small") {
    model::CreateRequest request;
    request.idempotency_key = key;
    request.type.name = request.type.provider_type = type;
    request.tags = {{"hostler-set", "s1"}, {"hostler-key", key}};
    return request;
  }
  static model::CreateRequest spot(const std::string& key) {
    auto asked = request(key);
    asked.type.market = model::Market::kSpot;
    return asked;
  }

  model::CloudResult<model::ListedInstance> create(model::CreateRequest request,
                                                   Duration timeout = kPatience) {
    Awaited<model::ListedInstance> created;
    set_->create(std::move(request), timeout, {}, created.done());
    return created.get();
  }
  model::CloudResult<model::ListedInstance> create(const std::string& key,
                                                   const std::string& type = "small") {
    return create(request(key, type));
  }
  std::vector<model::ListedInstance> list(model::ListRequest request = {}) {
    Awaited<std::vector<model::ListedInstance>> listed;
    set_->list(std::move(request), kPatience, listed.done());
    auto result = listed.get();
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *std::move(result) : std::vector<model::ListedInstance>{};
  }
  model::CloudResult<DriverSet::Nothing> destroy(const std::string& id,
                                                 const std::string& set = "") {
    Awaited<DriverSet::Nothing> destroyed;
    set_->destroy({.id = id, .expected_set_id = set, .idempotency_key = ""}, kPatience,
                  destroyed.done());
    return destroyed.get();
  }
  std::vector<model::ZonePrice> prices() {
    Awaited<std::vector<model::ZonePrice>> prices;
    PriceQuery query;
    query.type = spot("any").type;
    set_->price_history(query, kPatience, prices.done());
    return prices.get().value();
  }
  /// How many lists it takes until `wanted` holds of what they show; each moves the clock.
  template <class Wanted>
  int lists_until(const Wanted& wanted) {
    for (int lists = 1; lists < 1000; ++lists)
      if (wanted(list())) return lists;
    ADD_FAILURE() << "it never comes true";
    return 0;
  }

 private:
  std::unique_ptr<DriverSet> set_;
  model::CloudResult<model::SetInfo> opened_;
};

/// What is to be seen in a failed result.
inline std::string error_of(const auto& result) {
  return result ? "no error"
                : std::string(to_string(result.error().cls)) + ": " + result.error().message;
}

}  // namespace hostler::plugin_host
