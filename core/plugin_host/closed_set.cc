#include "core/plugin_host/closed_set.h"

#include <utility>

#include "core/plugin_host/outcome.h"

namespace hostler::plugin_host {
namespace {

class ClosedSet final : public DriverSet {
 public:
  explicit ClosedSet(std::string why) : why_(std::move(why)) {}

  void open(SetConfig, Duration, Done<model::SetInfo> done) override {
    done(tl::unexpected(cloud_error(model::CloudErrorClass::kInvalid, why_)));
  }
  void info(Duration, Done<model::SetInfo> done) override { refuse(done); }
  void create(model::CreateRequest, Duration, std::function<void(const model::ListedInstance&)>,
              Done<model::ListedInstance> done) override {
    refuse(done);
  }
  void list(model::ListRequest, Duration, Done<std::vector<model::ListedInstance>> done) override {
    refuse(done);
  }
  void destroy(model::DestroyRequest, Duration, Done<Nothing> done) override { refuse(done); }
  void set_tags(model::SetTagsRequest, Duration, Done<Nothing> done) override { refuse(done); }
  void verify_host_key(HostKeyCheck, Duration, Done<Nothing> done) override { refuse(done); }
  void price_history(PriceQuery, Duration, Done<std::vector<model::ZonePrice>> done) override {
    refuse(done);
  }
  void quota_group(model::InstanceType, Duration, Done<std::string> done) override { refuse(done); }
  void start(model::PowerRequest, Duration, Done<Nothing> done) override { refuse(done); }
  void stop(model::PowerRequest, Duration, Done<Nothing> done) override { refuse(done); }
  void offerings(model::OfferingsQuery, Duration,
                 Done<std::vector<model::CloudOffering>> done) override {
    refuse(done);
  }
  void watch_interruptions(Duration, std::function<void(const model::Interruption&)>,
                           Done<Nothing> done) override {
    refuse(done);
  }
  void read_console(model::ConsoleQuery, Duration, Done<model::ConsoleText> done) override {
    refuse(done);
  }
  void list_leftovers(model::Tags, Duration, Done<std::vector<model::Leftover>> done) override {
    refuse(done);
  }
  void destroy_leftover(model::LeftoverDestroyRequest, Duration, Done<Nothing> done) override {
    refuse(done);
  }
  void find_images(model::ImageQuery, Duration, Done<std::vector<model::Image>> done) override {
    refuse(done);
  }

  [[nodiscard]] SetHealth health() const override {
    SetHealth health;
    health.state = "not loaded: " + why_;
    return health;
  }

 private:
  /// Not for ever: the driver may be loaded later.
  template <class T>
  void refuse(const Done<T>& done) const {
    done(tl::unexpected(
        cloud_error(model::CloudErrorClass::kTransient, "the set is not open: " + why_)));
  }

  const std::string why_;
};

}  // namespace

std::unique_ptr<DriverSet> make_closed_set(std::string why) {
  return std::make_unique<ClosedSet>(std::move(why));
}

}  // namespace hostler::plugin_host
