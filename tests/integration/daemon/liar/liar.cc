// liar - the `local` driver behind a cloud that lies, for tests of the daemon. See README.md.
#include <chrono>
#include <cstdlib>
#include <hostler/driver.hpp>
#include <string>
#include <thread>
#include <vector>

#include "answers.h"
#include "lies.h"
#include "memory.h"
#include "settings.h"
#include "truth.h"

namespace hostler::liar {
namespace {

using driver::str;
using driver::view;

hostler_set_config config_of_truth(const hostler_set_config& config, const Settings& settings) {
  hostler_set_config out = config;
  out.config_json = str(settings.config);
  return out;
}

std::string text(const hostler_str& from) { return std::string(view(from)); }

}  // namespace

/// Tests make a newer version of this driver: they replace this text in a copy of its file.
constexpr const char* kVersion = "0.1-of-the-liar";

/// The driver: every call goes to the real one, and its answer comes back as the lies say.
class Liar {
 public:
  static driver::About about() {
    return {"liar", kVersion, "hostler", "Apache-2.0", kSchema, HOSTLER_THREAD_CONCURRENT, 16};
  }

  Liar(const hostler_host& host, const hostler_set_config& config, hostler_op* op)
      : settings_(read_settings(text(config.config_json))),
        set_id_(view(config.set_id)),
        memory_(Memory::of(settings_.folder)),
        truth_(settings_.driver, host, config_of_truth(config, settings_), op) {
    called("open " + read_token(text(config.credentials_json)));
    if (settings_.open == "crash") std::abort();
    while (settings_.open == "hang") std::this_thread::sleep_for(std::chrono::seconds(1));
    if (read_token(text(config.credentials_json)) == "wrong")
      throw driver::Error(HOSTLER_E_AUTH, "the cloud does not know these credentials");
  }

  hostler_status info(const hostler_set_info_req& request, hostler_op* op) {
    memory_->hang("info");
    const Lies lies = memory_->lies();
    return truth_.call(
        op, [&](hostler_op* its) { return truth_.driver().set_info(truth_.set(), &request, its); },
        [&](const hostler_rec& record) {
          auto out = reinterpret_cast<const hostler_set_info&>(record);
          if (!settings_.account.empty()) out.account_id = str(settings_.account);
          if (const Lie* lie = lies.find("account")) out.account_id = str(lie->kind());
          if (const Lie* lie = lies.find("region")) out.region = str(lie->kind());
          if (const Lie* lie = lies.find("consistency"))
            out.list_consistency_ms = std::stoull(std::string(lie->kind()));
          if (const Lie* lie = lies.find("user-data-max"))
            out.user_data_max_bytes = std::stoull(std::string(lie->kind()));
          op->emit(op, reinterpret_cast<const hostler_rec*>(&out));
        });
  }

  hostler_status create(const hostler_create_req& request, hostler_op* op) {
    const Lies lies = memory_->lies();
    called("create " + text(request.idempotency_key) + " " + text(request.type->provider_type));
    if (lies.find("create", "wait") != nullptr) {
      memory_->wait_for_go_on(*op);
      return make(request, op);
    }
    if (lies.find("create", "bare") != nullptr) return make_bare(request, op);
    const Lie* const lie = lies.find("create");
    const bool concerned =
        lie != nullptr &&
        (lie->value("only").empty() || lie->value("only") == view(request.type->provider_type));
    if (!concerned || !memory_->tells(*lie)) return make(request, op);
    if (lie->kind() == "invalid-but-made") return make_and_deny(request, op);
    if (lie->kind() == "failed" || lie->kind() == "gone") {
      const bool failed = lie->kind() == "failed";
      const Saved made =
          made_by(request, set_id_, failed ? HOSTLER_STATE_FAILED : HOSTLER_STATE_GONE);
      if (failed) memory_->make_failed(made);
      driver::emit(op, made.record());
      return HOSTLER_OK;
    }
    throw refusal(*lie);
  }

  hostler_status list(const hostler_list_req& request, hostler_op* op) {
    const Lies lies = memory_->lies();
    std::string line = request.n_ids == 0 ? "list" : "ids";
    for (std::size_t i = 0; i < request.n_ids; ++i) line += " " + text(request.ids[i]);
    called(line);
    if (request.n_ids == 0) memory_->hang("list");
    std::vector<Saved> seen;
    const auto status = truth_.call(
        op, [&](hostler_op* its) { return truth_.driver().list(truth_.set(), &request, its); },
        seen);
    if (status != HOSTLER_OK) return status;
    memory_->add_failed(request, seen);
    seen = request.n_ids == 0 ? listed(std::move(seen), lies, *memory_)
                              : listed_by_id(std::move(seen), request, lies, *memory_);
    for (const Saved& one : seen) driver::emit(op, one.record());
    if (request.n_ids != 0) return HOSTLER_OK;
    if (const Lie* lie = lies.find("list", "foreign")) emit_foreign(lie->number(), op);
    if (const Lie* lie = lies.find("list", "own")) emit_own(*lie, set_id_, op);
    return HOSTLER_OK;
  }

  hostler_status destroy(const hostler_destroy_req& request, hostler_op* op) {
    called("destroy " + text(request.id));
    if (memory_->lies().find("destroy", "ignored") != nullptr) return HOSTLER_OK;
    memory_->remove_failed(request.id.len != 0 ? text(request.id)
                                               : "made-" + text(request.idempotency_key));
    return truth_.driver().destroy(truth_.set(), &request, op);
  }

  hostler_status set_tags(const hostler_set_tags_req& request, hostler_op* op) {
    std::string line = "set_tags " + text(request.id);
    for (std::size_t i = 0; i < request.n_set; ++i) {
      line += " " + text(request.set[i].key) + "=" + text(request.set[i].value);
      memory_->repaired(view(request.id), view(request.set[i].key));
    }
    called(line);
    return truth_.driver().set_tags(truth_.set(), &request, op);
  }

  hostler_status verify(const hostler_verify_req& request, hostler_op* op) {
    if (memory_->lies().find("key", "unknown") != nullptr)
      throw driver::Error(HOSTLER_E_UNSUPPORTED, "this cloud knows no host keys");
    const auto& its = truth_.extension<hostler_ext_host_key>(HOSTLER_EXT_HOST_KEY);
    return its.verify(truth_.set(), &request, op);
  }

  hostler_status watch(const hostler_interruption_req&, hostler_op*) {
    if (memory_->lies().find("watch", "auth") != nullptr)
      throw driver::Error(HOSTLER_E_AUTH, "these credentials may not watch");
    throw driver::Error(HOSTLER_E_UNSUPPORTED, "this cloud tells of no interruptions");
  }

  hostler_status read_console(const hostler_console_req& request, hostler_op* op) {
    called("console " + text(request.id));
    const auto& its = truth_.extension<hostler_ext_console>(HOSTLER_EXT_CONSOLE);
    return its.read(truth_.set(), &request, op);
  }

  hostler_status price_history(const hostler_price_req& request, hostler_op* op) {
    const auto& its = truth_.extension<hostler_ext_price_history>(HOSTLER_EXT_PRICE_HISTORY);
    return its.history(truth_.set(), &request, op);
  }

  void quota_group(const hostler_quota_group_req& request, hostler_op* op) {
    called("group " + text(request.type->provider_type));
    const Lies lies = memory_->lies();
    for (const Lie& lie : lies.all()) {
      if (lie.topic() != "group" || lie.kind() != view(request.type->provider_type)) continue;
      auto group = driver::quota_group_record();
      group.name = str(lie.words.at(2));
      return driver::emit(op, group);
    }
  }

  hostler_status start(const hostler_power_req& request, hostler_op* op) {
    called("start " + text(request.id));
    const auto& its = truth_.extension<hostler_ext_power>(HOSTLER_EXT_POWER);
    return its.start(truth_.set(), &request, op);
  }

  hostler_status stop(const hostler_power_req& request, hostler_op* op) {
    called("stop " + text(request.id));
    const auto& its = truth_.extension<hostler_ext_power>(HOSTLER_EXT_POWER);
    return its.stop(truth_.set(), &request, op);
  }

 private:
  void called(const std::string& line) { memory_->called(line + settings_.by); }

  hostler_status make(const hostler_create_req& request, hostler_op* op) {
    return truth_.driver().create(truth_.set(), &request, op);
  }

  hostler_status make_bare(const hostler_create_req& request, hostler_op* op) {
    return truth_.call(
        op, [&](hostler_op* its) { return make(request, its); },
        [&](const hostler_rec& record) {
          auto out = reinterpret_cast<const hostler_instance&>(record);
          out.n_addresses = 0;
          op->emit(op, reinterpret_cast<const hostler_rec*>(&out));
        });
  }

  hostler_status make_and_deny(const hostler_create_req& request, hostler_op* op) {
    std::vector<Saved> made;
    const auto status = truth_.call(
        op, [&](hostler_op* its) { return make(request, its); }, made);
    if (status != HOSTLER_OK) return status;
    throw driver::Error(HOSTLER_E_INVALID, "the cloud does not know what it was asked for");
  }

  const Settings settings_;
  const std::string set_id_;
  const std::shared_ptr<Memory> memory_;
  const Truth truth_;
};

}  // namespace hostler::liar

HOSTLER_REGISTER(hostler::liar::Liar)
