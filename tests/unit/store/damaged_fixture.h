#pragma once

#include <string>
#include <vector>

#include "core/store/connect.h"
#include "core/store/meta.h"
#include "tests/unit/store/fixture.h"

namespace hostler::store {

/// A store with j-5, which runs on h-7, with j-6, which waits, and with h-8; whose rows are then
/// damaged.
class DamagedFixture : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    if (IsSkipped()) return;
    auto host = instance_in(7, model::InstanceState::kBusy);
    host.record.pool = "default", host.record.type = "small", host.record.provider_id = "i-7";
    host.record.price_per_hour = {250};
    host.record.total.vcpus = 4;
    auto running = new_job(5);
    running.record.state = model::WorkState::kRunning;
    running.record.attempt = 1;
    running.record.instance = {7};
    model::AttemptChanged attempt;
    attempt.attempt = {{5}, 1};
    attempt.instance = {7};
    auto keyed = new_job(6);
    keyed.client_key = "k";
    must_commit({host, instance_in(8, model::InstanceState::kIdle), running, attempt, keyed});
  }

  /// Changes rows behind the store's back, and restores.
  model::Restored restored_after(const std::string& sql) {
    damage(sql);
    return reopened();
  }
  void damage(const std::string& sql) {
    store_.reset();
    const auto connection = connect(place(), Mode::kWrite);
    ASSERT_TRUE(connection) << connection.error().message;
    const auto done = (*connection)->execute(sql);
    ASSERT_TRUE(done) << done.error().message;
  }
  std::int64_t number(const std::string& sql) {
    const auto connection = connect(place(), Mode::kRead);
    auto find = (*connection)->prepare(sql);
    EXPECT_TRUE(find && find->next());
    return find->i64(0);
  }
  std::string meta(const std::string& key) {
    const auto connection = connect(place(), Mode::kRead);
    auto value = meta_value(**connection, key);
    EXPECT_TRUE(value);
    return *value;
  }
  static std::vector<std::string> named(const model::Restored& restored) {
    std::vector<std::string> out;
    for (const auto& row : restored.damaged)
      out.push_back(row.table + " " + row.key + ": " + row.problem);
    return out;
  }
  static std::vector<std::string> work(const model::Restored& restored) {
    std::vector<std::string> out;
    for (const auto& item : restored.work) out.push_back(item.record.id.text());
    return out;
  }
};

}  // namespace hostler::store
