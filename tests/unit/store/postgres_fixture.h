#pragma once

#include <string>

#include "tests/unit/store/fixture.h"

namespace hostler::store {

class PostgresTest : public StoreFixture {
 protected:
  PostgresServer& server() { return *PostgresServer::get(); }
  /// A job, its attempt with inline output and a record. Applying it twice would break a
  /// constraint.
  static model::Commit whole_commit(std::uint64_t id) {
    model::AttemptChanged ended;
    ended.attempt = {{id}, 1};
    ended.state = model::AttemptState::kEnded;
    ended.end.emplace();
    ended.end->stdout_inline = "output of " + std::to_string(id);
    return commit_of({new_job(id), ended, record(id, model::WorkId{id}.text(), "ended")});
  }
  void expect_whole(std::uint64_t jobs) {
    EXPECT_EQ(store_->reads().ledger(0, 10'000)->items.size(), jobs);
    for (std::uint64_t id = 1; id <= jobs; ++id) {
      const auto output = store_->read_output({{id}, 1}, kStdoutStream, 0, 100);
      ASSERT_TRUE(output) << output.error().message;
      EXPECT_EQ(output->data, "output of " + std::to_string(id));
    }
  }
  std::string refusal(const std::string& conninfo) {
    const auto opened = Store::open(folder_.path() / "other", {.postgres = conninfo});
    return opened ? "it was opened" : opened.error().message;
  }
};

}  // namespace hostler::store
