#include "core/tap/replay.h"

#include <future>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "core/base/text.h"
#include "core/crypto/random.h"
#include "core/crypto/ssh_keys.h"
#include "core/tap/comparison.h"
#include "core/tap/replay_requests.h"

namespace hostler::tap {
namespace {

using plugin_host::DriverSet;
using Nothing = DriverSet::Nothing;

constexpr std::size_t kDifferencesMax = 1000;
constexpr int kDestroyAttempts = 3;

/// The answer of a call that `send` makes.
template <class T, class Send>
model::CloudResult<T> answer(const Send& send) {
  auto promise = std::make_shared<std::promise<model::CloudResult<T>>>();
  auto future = promise->get_future();
  send([promise](model::CloudResult<T> result) { promise->set_value(std::move(result)); });
  return future.get();  // Every call of a set ends: its timeout and its grace time see to that.
}

class Replay {
 public:
  Replay(DriverSet& set, const ReplayOptions& options)
      : set_(set), options_(options), secrets_(options.credentials_json, options.config_json) {
    const auto login = crypto::make_ed25519_key("hostler-replay");
    const auto host = crypto::make_ed25519_key("hostler-replay");
    names_.login_key = login.public_key;
    names_.host_key_private = host.private_key;
    names_.host_key_public = host.public_key;
  }

  Result<void> take(const Line& line) {
    const auto* call = std::get_if<Call>(&line);
    if (call == nullptr) {
      if (std::holds_alternative<Session>(line)) ++session_;
      return {};
    }
    report_.stopped = report_.stopped || options_.stop();
    if (report_.stopped) return {};
    const auto now = make(*call);
    if (!now) {
      ++report_.skipped;
      return {};
    }
    ++report_.made;
    for (const auto& text : compare(*call, *now)) note(*call, text);
    return {};
  }

  ReplayReport finish() {
    if (!names_.keys.empty()) find_lost();
    for (const std::string& id : made_) {
      bool gone = false;
      for (int i = 0; i < kDestroyAttempts && !gone; ++i) {
        const auto destroyed = destroy(id);
        gone = destroyed || destroyed.error().cls == model::CloudErrorClass::kNotFound;
      }
      if (!gone) report_.left.push_back(secrets_.clean(id));
    }
    return std::move(report_);
  }

 private:
  /// What a create has made whose answer was lost.
  void find_lost() {
    const auto listed = list_ours({});
    if (!listed) {
      report_.left.push_back(
          "(not known: the list failed: " + secrets_.clean_sentence(listed.error().message) + ")");
      return;
    }
    for (const model::ListedInstance& one : *listed)
      for (const auto& [recorded, key] : names_.keys)
        if (one.idempotency_key == key) {
          made_.insert(one.id);
          key_of_[one.id] = key;
        }
  }

  void note(const Call& call, const std::string& text) {
    if (report_.differences.size() >= kDifferencesMax) return;
    const std::string session = session_ > 1 ? "session " + std::to_string(session_) + ", " : "";
    report_.differences.push_back(session + "call " + std::to_string(call.number) + " (" +
                                  std::string(to_string(call.function)) + "): " + text);
  }

  template <class T>
  Outcome outcome(const model::CloudResult<T>& result) {
    Outcome out;
    if (result) {
      add_records(*result, secrets_, out.records);
    } else {
      out.status = to_string(result.error().cls);
      out.error = error_to_json(result.error(), secrets_);
    }
    return out;
  }
  template <class T, class Send>
  Outcome ask(const Send& send) {
    return outcome(answer<T>(send));
  }

  /// nullopt: it cannot be made here.
  std::optional<Outcome> make(const Call& call) {
    const json::Value request = call.request();
    const auto time = options_.timeout;
    switch (call.function) {
      case Function::kOpen:
        return ask<model::SetInfo>([&](auto done) { set_.open(config(), time, done); });
      case Function::kInfo:
        return ask<model::SetInfo>([&](auto done) { set_.info(time, done); });
      case Function::kCreate:
        return create(call);
      case Function::kList:
        return list(request);
      case Function::kPriceHistory:
        return ask<std::vector<model::ZonePrice>>([&](auto done) {
          set_.price_history({type_of(request), {request.at("since_us").int_or(0)}}, time, done);
        });
      case Function::kQuotaGroup:
        return ask<std::string>([&](auto done) { set_.quota_group(type_of(request), time, done); });
      case Function::kOfferings:
        return ask<std::vector<model::CloudOffering>>(
            [&](auto done) { set_.offerings(offerings_of(request), time, done); });
      case Function::kListLeftovers:
        return ask<std::vector<model::Leftover>>([&](auto done) {
          set_.list_leftovers({{model::tag::kSet, kReplaySet}}, time, done);
        });
      case Function::kFindImages:
        if (request.has("filters")) return std::nullopt;
        return ask<std::vector<model::Image>>(
            [&](auto done) { set_.find_images(image_of(request), time, done); });
      case Function::kDestroy:
      case Function::kSetTags:
      case Function::kStart:
      case Function::kStop:
      case Function::kReadConsole:
        return to_one(call);
      case Function::kVerifyHostKey:
      case Function::kWatchInterruptions:
      case Function::kDestroyLeftover:
        return std::nullopt;
    }
    return std::nullopt;
  }

  /// Calls about an instance that the replay has made.
  std::optional<Outcome> to_one(const Call& call) {
    const auto id = names_.id(call.request().at("id"));
    if (!id) return std::nullopt;
    const auto time = options_.timeout;
    const model::PowerRequest power{*id, kReplaySet};
    switch (call.function) {
      case Function::kDestroy:
        return outcome(destroy(*id));
      case Function::kSetTags:
        return ask<Nothing>([&](auto done) {
          set_.set_tags({*id, tags_of(call.request().at("tags"), key_of_[*id])}, time, done);
        });
      case Function::kStart:
        return ask<Nothing>([&](auto done) { set_.start(power, time, done); });
      case Function::kStop:
        return ask<Nothing>([&](auto done) { set_.stop(power, time, done); });
      default:
        return ask<model::ConsoleText>(
            [&](auto done) { set_.read_console({.id = *id}, time, done); });
    }
  }

  std::optional<Outcome> create(const Call& call) {
    const std::string recorded(call.request().at("key").text_or(""));
    auto& key = names_.keys[recorded];
    if (key.empty() && names_.keys.size() > options_.creates_max) {
      names_.keys.erase(recorded);
      return std::nullopt;
    }
    if (key.empty()) key = crypto::random_uuid();
    const auto result = answer<model::ListedInstance>([&](auto done) {
      // Also one whose create fails afterwards.
      const auto seen = [this, key](const model::ListedInstance& instance) {
        made_.insert(instance.id);
        key_of_[instance.id] = key;
      };
      set_.create(create_of(call.request(), names_, key), options_.timeout, seen, done);
    });
    for (const json::Value record : call.records().children())
      if (result) names_.ids[std::string(record.at("id").text_or(""))] = result->id;
    return outcome(result);
  }

  std::optional<Outcome> list(const json::Value& request) {
    std::vector<std::string> ids;
    for (const json::Value recorded : request.at("ids").children())
      if (const auto id = names_.id(recorded)) ids.push_back(*id);
    if (request.has("ids") && ids.empty()) return std::nullopt;
    return outcome(list_ours(std::move(ids)));
  }

  model::CloudResult<std::vector<model::ListedInstance>> list_ours(std::vector<std::string> ids) {
    const model::ListRequest request{{{model::tag::kSet, kReplaySet}}, std::move(ids)};
    return answer<std::vector<model::ListedInstance>>(
        [&](auto done) { set_.list(request, options_.timeout, done); });
  }

  model::CloudResult<Nothing> destroy(const std::string& id) {
    auto result = answer<Nothing>([&](auto done) {
      set_.destroy({id, kReplaySet, key_of_[id]}, options_.timeout, done);
    });
    return result;
  }

  [[nodiscard]] plugin_host::SetConfig config() const {
    return {.set_id = kReplaySet,
            .config_json = options_.config_json,
            .credentials_json = options_.credentials_json};
  }

  DriverSet& set_;
  const ReplayOptions& options_;
  const Secrets secrets_;
  Renamed names_;
  std::set<std::string> made_;                 ///< Ids of instances.
  std::map<std::string, std::string> key_of_;  ///< By their ids.
  ReplayReport report_;
  int session_ = 0;
};

}  // namespace

Result<ReplayReport> replay(const std::filesystem::path& recording, DriverSet& set,
                            const ReplayOptions& options) {
  // All of it is read first: a damaged recording makes no machines.
  HOSTLER_TRY(read_recording(recording, [](const Line&) { return Result<void>(); }));
  Replay calls(set, options);
  auto read = read_recording(recording, [&](const Line& line) { return calls.take(line); });
  ReplayReport report = calls.finish();
  if (!read) return tl::unexpected(std::move(read.error()));
  report.recording = std::move(*read);
  return report;
}

}  // namespace hostler::tap
