#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/plugin_host/calls.h"

/// One class for each function of an extension, as in calls.h. A call of an extension that the
/// driver lacks ends with UNSUPPORTED.
namespace hostler::plugin_host {

class VerifyCall final : public Call<DriverSet::Nothing> {
 public:
  VerifyCall(std::shared_ptr<Connection> connection, Listener& listener, HostKeyCheck check,
             DriverSet::Done<DriverSet::Nothing> done);

 private:
  hostler_status call_driver() override;
  HostKeyCheck check_;
};

class PriceCall final : public Call<std::vector<model::ZonePrice>> {
 public:
  PriceCall(std::shared_ptr<Connection> connection, Listener& listener, PriceQuery query,
            DriverSet::Done<std::vector<model::ZonePrice>> done);

 private:
  hostler_status call_driver() override;
  bool take_record(const hostler_rec& record) override;
  PriceQuery query_;
};

class QuotaGroupCall final : public Call<std::string> {
 public:
  QuotaGroupCall(std::shared_ptr<Connection> connection, Listener& listener,
                 model::InstanceType type, DriverSet::Done<std::string> done);

 private:
  hostler_status call_driver() override;
  bool take_record(const hostler_rec& record) override;
  std::string rule_broken_by_success() override;
  model::InstanceType type_;
  int records_ = 0;
};

class PowerCall final : public Call<DriverSet::Nothing> {
 public:
  /// `kind` is kStart or kStop; kOther: a suspend.
  PowerCall(std::shared_ptr<Connection> connection, Listener& listener, model::CloudOp kind,
            model::PowerRequest request, DriverSet::Done<DriverSet::Nothing> done);

 private:
  hostler_status call_driver() override;
  model::PowerRequest request_;
};

class OfferingsCall final : public Call<std::vector<model::CloudOffering>> {
 public:
  OfferingsCall(std::shared_ptr<Connection> connection, Listener& listener,
                model::OfferingsQuery query,
                DriverSet::Done<std::vector<model::CloudOffering>> done);

 private:
  hostler_status call_driver() override;
  bool take_record(const hostler_rec& record) override;
  model::OfferingsQuery query_;
  TextsLeft texts_left_;
};

class WatchCall final : public Call<DriverSet::Nothing> {
 public:
  using OnNotice = std::function<void(const model::Interruption&)>;
  /// `on_notice` is called on a thread of the driver.
  WatchCall(std::shared_ptr<Connection> connection, Listener& listener, OnNotice on_notice,
            DriverSet::Done<DriverSet::Nothing> done);

 private:
  hostler_status call_driver() override;
  bool take_record(const hostler_rec& record) override;
  OnNotice on_notice_;
  std::size_t notices_ = 0;
};

class ConsoleCall final : public Call<model::ConsoleText> {
 public:
  ConsoleCall(std::shared_ptr<Connection> connection, Listener& listener, model::ConsoleQuery query,
              DriverSet::Done<model::ConsoleText> done);

 private:
  hostler_status call_driver() override;
  bool take_record(const hostler_rec& record) override;
  model::ConsoleQuery query_;
  TextsLeft texts_left_;
};

class ListLeftoversCall final : public Call<std::vector<model::Leftover>> {
 public:
  ListLeftoversCall(std::shared_ptr<Connection> connection, Listener& listener,
                    model::Tags tag_filter, DriverSet::Done<std::vector<model::Leftover>> done);

 private:
  hostler_status call_driver() override;
  bool take_record(const hostler_rec& record) override;
  model::Tags tag_filter_;
  TextsLeft texts_left_;
};

class DestroyLeftoverCall final : public Call<DriverSet::Nothing> {
 public:
  DestroyLeftoverCall(std::shared_ptr<Connection> connection, Listener& listener,
                      model::LeftoverDestroyRequest request,
                      DriverSet::Done<DriverSet::Nothing> done);

 private:
  hostler_status call_driver() override;
  model::LeftoverDestroyRequest request_;
};

class ImagesCall final : public Call<std::vector<model::Image>> {
 public:
  ImagesCall(std::shared_ptr<Connection> connection, Listener& listener, model::ImageQuery query,
             DriverSet::Done<std::vector<model::Image>> done);

 private:
  hostler_status call_driver() override;
  bool take_record(const hostler_rec& record) override;
  model::ImageQuery query_;
  TextsLeft texts_left_;
};

}  // namespace hostler::plugin_host
