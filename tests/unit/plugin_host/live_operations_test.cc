// What a driver hands back is looked up before it is used. A program of its own: it needs no
// driver, so every sanitizer has it soon.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/plugin_host/host_table.h"
#include "core/plugin_host/operation.h"

namespace hostler::plugin_host {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

struct Lines {
  Mutex mutex;
  std::vector<std::string> all HOSTLER_GUARDED_BY(mutex);

  std::vector<std::string> take() {
    const MutexLock lock(mutex);
    return std::exchange(all, {});
  }
};
Lines lines;

void note(log::Level /*level*/, const std::string& area, const std::string& line) {
  const MutexLock lock(lines.mutex);
  lines.all.push_back(area + ": " + line);
}

class Silent final : public Operation::Listener {
 public:
  void on_ended(Operation& /*op*/) override {}
  void on_late_return(Operation& /*op*/) override {}
  void on_broken_rule(const Operation& /*op*/, const std::string& /*rule*/) override {}
};

/// A call that its driver ends later.
class Pending final : public Operation {
 public:
  explicit Pending(Listener& listener) : Operation({.name = "create"}, name(), listener) {}
  [[nodiscard]] std::string label() const override { return "create h-7"; }

 private:
  static const std::string& name() {
    static const std::string kName = "bad";
    return kName;
  }
  hostler_status call_driver() override { return HOSTLER_PENDING; }
  bool take_record(const hostler_rec& /*record*/) override { return true; }
  void deliver(std::optional<model::CloudError> /*failure*/) override {}
};

class LiveOperationsTest : public testing::Test {
 protected:
  void SetUp() override {
    set_line_sink(&note);
    (void)lines.take();
  }
  std::shared_ptr<Pending> called() {
    auto op = std::make_shared<Pending>(listener_);
    op->run();
    return op;
  }
  static void log(const hostler_op* op) {
    hostler_log_line line{};
    line.struct_size = sizeof line;
    line.op = op;
    line.message = {"hello", std::strlen("hello")};
    host_table().log(&host_table(), &line);
  }

  Silent listener_;
};

TEST_F(LiveOperationsTest, ALineNamesTheCallThatIsUnderWay) {
  const auto op = called();
  log(op.get());
  EXPECT_THAT(lines.take(), ElementsAre("driver: create h-7: hello"));
}

// Bug: the process of the driver ended, and with it all calls that were in it.
TEST_F(LiveOperationsTest, ALineAboutNoCallIsWritten) {
  auto op = called();
  const hostler_op* const gone = op.get();
  op->complete(op.get(), HOSTLER_OK);
  op.reset();
  for (const hostler_op* none : {gone, reinterpret_cast<const hostler_op*>(16)}) {
    log(none);
    EXPECT_THAT(lines.take(), ElementsAre("driver: of a call that is long over (R26): hello"));
  }
}

TEST_F(LiveOperationsTest, WhateverADriverHandsBackOfACallThatIsLongOverIsRefused) {
  auto op = called();
  const hostler_op functions = *op;
  const auto set_text = op->error->set_text;
  op->complete(op.get(), HOSTLER_OK);
  hostler_op* const gone = op.get();
  hostler_error* const error = op->error;
  op.reset();
  const hostler_rec record{sizeof record, HOSTLER_REC_INSTANCE};

  EXPECT_NE(functions.is_cancelled(gone), 0);
  EXPECT_NE(functions.emit(gone, &record), 0);
  functions.on_cancel(gone, nullptr, nullptr);
  functions.complete(gone, HOSTLER_OK);
  set_text(error, HOSTLER_TEXT_MESSAGE, "x", 1);

  EXPECT_THAT(lines.take(), ElementsAre(EndsWith("R26: is_cancelled() of a call that is long over"),
                                        EndsWith("R26: emit() of a call that is long over"),
                                        EndsWith("R26: on_cancel() of a call that is long over"),
                                        EndsWith("R26: complete() of a call that is long over"),
                                        EndsWith("R26: set_text() of a call that is long over")));
}

// For tsan and asan: a thread of the driver goes on with a call that another one ends.
TEST_F(LiveOperationsTest, WhatIsLookedUpStaysUntilItWasUsed) {
  const auto kept = called();
  const hostler_op functions = *kept;
  std::atomic<hostler_op*> newest = kept.get();
  std::atomic<bool> over = false;
  std::thread driver([&] {
    const hostler_rec record{sizeof record, HOSTLER_REC_INSTANCE};
    while (!over) {
      log(newest);
      (void)functions.is_cancelled(newest);
      (void)functions.emit(newest, &record);
    }
  });
  for (int n = 0; n < 5000; ++n) {
    auto op = called();
    newest = op.get();
    functions.complete(newest, HOSTLER_OK);
  }
  over = true;
  driver.join();
  functions.complete(kept.get(), HOSTLER_OK);
}

}  // namespace
}  // namespace hostler::plugin_host
