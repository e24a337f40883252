#include "core/tap/recorder.h"

#include <utility>
#include <vector>

#include "core/tap/records.h"
#include "core/tap/requests.h"

namespace hostler::tap {
namespace {

using plugin_host::DriverSet;
using plugin_host::SetConfig;

/// Records that a call gives before its end.
class EarlyRecords {
 public:
  template <class T>
  void add(const T& record, const Secrets& secrets) {
    const MutexLock lock(mutex_);
    records_.add(record_of(record, secrets));
  }
  [[nodiscard]] Records take() {
    const MutexLock lock(mutex_);
    return std::move(records_);
  }

 private:
  Mutex mutex_;
  Records records_ HOSTLER_GUARDED_BY(mutex_);
};

/// What the calls of a set share. The answers of calls keep it.
struct Notes {
  explicit Notes(std::shared_ptr<RecordingFile> of) : file(std::move(of)) {}

  const std::shared_ptr<RecordingFile> file;
  ListChanges lists;

  /// Those of the newest open, which comes before all other calls.
  [[nodiscard]] std::shared_ptr<const Secrets> secrets() const {
    const MutexLock lock(mutex_);
    return secrets_;
  }
  void set_secrets(Secrets secrets) {
    const MutexLock lock(mutex_);
    secrets_ = std::make_shared<const Secrets>(std::move(secrets));
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const Secrets> secrets_ HOSTLER_GUARDED_BY(mutex_) =
      std::make_shared<const Secrets>();
};

/// A call whose line is written when it ends.
struct BegunCall {
  std::shared_ptr<Notes> notes;
  Function function;
  Mono start;
  std::string request;

  /// `error`: null after a success. False: the line is lost.
  [[nodiscard]] bool end(const Records& records, const model::CloudError* error) const {
    std::string line = "\"call\":\"" + std::string(to_string(function)) + "\",\"status\":\"" +
                       (error == nullptr ? "ok" : to_string(error->cls)) +
                       "\",\"request\":" + request;
    if (error != nullptr) line += ",\"error\":" + error_to_json(*error, *notes->secrets());
    return notes->file->append(start, line + "," + records.members());
  }
};

class RecordedSet final : public DriverSet {
 public:
  RecordedSet(std::unique_ptr<DriverSet> set, std::shared_ptr<RecordingFile> file,
              std::string version)
      : version_(std::move(version)),
        notes_(std::make_shared<Notes>(std::move(file))),
        set_(std::move(set)) {}

  void open(SetConfig config, Duration timeout, Done<model::SetInfo> done) override {
    notes_->set_secrets(Secrets(config.credentials_json, config.config_json));
    auto request = to_json(config, version_);
    set_->open(std::move(config), timeout, noted(Function::kOpen, std::move(request), done));
  }
  void info(Duration timeout, Done<model::SetInfo> done) override {
    set_->info(timeout, noted(Function::kInfo, "{}", done));
  }
  void create(model::CreateRequest request, Duration timeout,
              std::function<void(const model::ListedInstance&)> on_record,
              Done<model::ListedInstance> done) override {
    auto text = to_json(request, *notes_->secrets());
    const auto early = std::make_shared<EarlyRecords>();
    auto seen = [early, notes = notes_,
                 on_record = std::move(on_record)](const model::ListedInstance& instance) {
      early->add(instance, *notes->secrets());
      if (on_record) on_record(instance);
    };
    auto ended = noted(Function::kCreate, std::move(text), early, std::move(done));
    set_->create(std::move(request), timeout, std::move(seen), std::move(ended));
  }
  void list(model::ListRequest request, Duration timeout,
            Done<std::vector<model::ListedInstance>> done) override {
    auto text = to_json(request, *notes_->secrets());
    if (!request.ids.empty())  // A look-up; all other lists are of the whole set.
      return set_->list(std::move(request), timeout,
                        noted(Function::kList, std::move(text), std::move(done)));
    auto ended =
        [notes = notes_, call = begun(Function::kList, std::move(text)),
         done = std::move(done)](model::CloudResult<std::vector<model::ListedInstance>> result) {
          Records records;
          if (result) notes->lists.add_records(*result, *notes->secrets(), records);
          if (!call.end(records, result ? nullptr : &result.error())) notes->lists.forget();
          done(std::move(result));
        };
    set_->list(std::move(request), timeout, std::move(ended));
  }
  void destroy(model::DestroyRequest request, Duration timeout, Done<Nothing> done) override {
    auto ended = noted(Function::kDestroy, text_of(request), done);
    set_->destroy(std::move(request), timeout, std::move(ended));
  }
  void set_tags(model::SetTagsRequest request, Duration timeout, Done<Nothing> done) override {
    auto ended = noted(Function::kSetTags, text_of(request), done);
    set_->set_tags(std::move(request), timeout, std::move(ended));
  }
  void verify_host_key(plugin_host::HostKeyCheck check, Duration timeout,
                       Done<Nothing> done) override {
    auto ended = noted(Function::kVerifyHostKey, text_of(check), done);
    set_->verify_host_key(std::move(check), timeout, std::move(ended));
  }
  void price_history(plugin_host::PriceQuery query, Duration timeout,
                     Done<std::vector<model::ZonePrice>> done) override {
    auto ended = noted(Function::kPriceHistory, text_of(query), done);
    set_->price_history(std::move(query), timeout, std::move(ended));
  }
  void quota_group(model::InstanceType type, Duration timeout, Done<std::string> done) override {
    auto ended = noted(Function::kQuotaGroup, text_of(type), done);
    set_->quota_group(std::move(type), timeout, std::move(ended));
  }
  void start(model::PowerRequest request, Duration timeout, Done<Nothing> done) override {
    auto ended = noted(Function::kStart, text_of(request), done);
    set_->start(std::move(request), timeout, std::move(ended));
  }
  void stop(model::PowerRequest request, Duration timeout, Done<Nothing> done) override {
    auto ended = noted(Function::kStop, text_of(request), done);
    set_->stop(std::move(request), timeout, std::move(ended));
  }
  void offerings(model::OfferingsQuery query, Duration timeout,
                 Done<std::vector<model::CloudOffering>> done) override {
    auto ended = noted(Function::kOfferings, text_of(query), done);
    set_->offerings(std::move(query), timeout, std::move(ended));
  }
  void watch_interruptions(Duration timeout,
                           std::function<void(const model::Interruption&)> on_notice,
                           Done<Nothing> done) override {
    const auto early = std::make_shared<EarlyRecords>();
    auto seen = [early, notes = notes_,
                 on_notice = std::move(on_notice)](const model::Interruption& notice) {
      early->add(notice, *notes->secrets());
      on_notice(notice);
    };
    auto ended = noted(Function::kWatchInterruptions, "{}", early, std::move(done));
    set_->watch_interruptions(timeout, std::move(seen), std::move(ended));
  }
  void read_console(model::ConsoleQuery query, Duration timeout,
                    Done<model::ConsoleText> done) override {
    auto ended = noted(Function::kReadConsole, text_of(query), done);
    set_->read_console(std::move(query), timeout, std::move(ended));
  }
  void list_leftovers(model::Tags tag_filter, Duration timeout,
                      Done<std::vector<model::Leftover>> done) override {
    auto text = tags_to_json(tag_filter, *notes_->secrets());
    set_->list_leftovers(std::move(tag_filter), timeout,
                         noted(Function::kListLeftovers, std::move(text), std::move(done)));
  }
  void destroy_leftover(model::LeftoverDestroyRequest request, Duration timeout,
                        Done<Nothing> done) override {
    auto ended = noted(Function::kDestroyLeftover, text_of(request), done);
    set_->destroy_leftover(std::move(request), timeout, std::move(ended));
  }
  void find_images(model::ImageQuery query, Duration timeout,
                   Done<std::vector<model::Image>> done) override {
    auto ended = noted(Function::kFindImages, text_of(query), done);
    set_->find_images(std::move(query), timeout, std::move(ended));
  }
  [[nodiscard]] plugin_host::SetHealth health() const override { return set_->health(); }

 private:
  template <class Request>
  [[nodiscard]] std::string text_of(const Request& request) const {
    return to_json(request, *notes_->secrets());
  }

  [[nodiscard]] BegunCall begun(Function function, std::string request) const {
    return {notes_, function, notes_->file->now().mono, std::move(request)};
  }

  template <class T>
  [[nodiscard]] Done<T> noted(Function function, std::string request, Done<T> done) const {
    return [notes = notes_, call = begun(function, std::move(request)),
            done = std::move(done)](model::CloudResult<T> result) {
      Records records;
      if (result) add_records(*result, *notes->secrets(), records);
      (void)call.end(records, result ? nullptr : &result.error());
      done(std::move(result));
    };
  }
  /// The same of a call whose records come before its end.
  template <class T>
  [[nodiscard]] Done<T> noted(Function function, std::string request,
                              std::shared_ptr<EarlyRecords> early, Done<T> done) const {
    return [early = std::move(early), call = begun(function, std::move(request)),
            done = std::move(done)](model::CloudResult<T> result) {
      (void)call.end(early->take(), result ? nullptr : &result.error());
      done(std::move(result));
    };
  }

  const std::string version_;
  const std::shared_ptr<Notes> notes_;
  const std::unique_ptr<DriverSet> set_;  ///< Ends first: its last answers are noted.
};

}  // namespace

std::unique_ptr<DriverSet> record(std::unique_ptr<DriverSet> set,
                                  std::shared_ptr<RecordingFile> file, std::string driver_version) {
  return std::make_unique<RecordedSet>(std::move(set), std::move(file), std::move(driver_version));
}

}  // namespace hostler::tap
