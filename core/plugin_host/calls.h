#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plugin_host/connection.h"
#include "core/plugin_host/driver_set.h"
#include "core/plugin_host/operation.h"

/// One class for each function of a driver's table, those of extensions in extension_calls.h: its
/// request, the records that it takes, its result. A call owns its request for as long as it lives,
/// since the driver may read it until the call is over.
namespace hostler::plugin_host {

template <class T>
class Call : public Operation {
 public:
  Call(Traits traits, std::shared_ptr<Connection> connection, Listener& listener,
       DriverSet::Done<T> done)
      : Operation(adapted(traits, *connection), connection->library->name(), listener),
        connection_(std::move(connection)),
        done_(std::move(done)) {}

 protected:
  bool take_record(const hostler_rec&) override { return true; }  // ignores other kinds (R9)
  void deliver(std::optional<model::CloudError> failure) override {
    if (failure) {
      done_(tl::unexpected(std::move(*failure)));
    } else {
      done_(std::move(result_));
    }
  }
  [[nodiscard]] const hostler_driver& driver() const { return connection_->driver(); }
  [[nodiscard]] hostler_set* set() const { return connection_->set; }
  hostler_op* op() { return this; }
  [[nodiscard]] std::string labelled(const std::string& subject) const {
    return traits().name + (subject.empty() ? "" : " " + subject);
  }

  std::shared_ptr<Connection> connection_;
  DriverSet::Done<T> done_;
  T result_{};

 private:
  static Traits adapted(Traits traits, const Connection& connection) {
    traits.may_pend = traits.may_pend || connection.always_may_pend();
    return traits;
  }
};

class OpenCall final : public Call<DriverSet::Nothing> {
 public:
  OpenCall(std::shared_ptr<Connection> connection, Listener& listener, SetConfig config,
           DriverSet::Done<DriverSet::Nothing> done);

 private:
  hostler_status call_driver() override;
  std::string rule_broken_by_success() override;
  SetConfig config_;
};

class InfoCall final : public Call<model::SetInfo> {
 public:
  InfoCall(std::shared_ptr<Connection> connection, Listener& listener,
           DriverSet::Done<model::SetInfo> done);

 private:
  hostler_status call_driver() override;
  bool take_record(const hostler_rec& record) override;
  std::string rule_broken_by_success() override;
  int records_ = 0;
};

class CreateCall final : public Call<model::ListedInstance> {
 public:
  using OnRecord = std::function<void(const model::ListedInstance&)>;
  /// `on_record` is called on a thread of the driver.
  CreateCall(std::shared_ptr<Connection> connection, Listener& listener,
             model::CreateRequest request, OnRecord on_record,
             DriverSet::Done<model::ListedInstance> done);

  [[nodiscard]] std::string label() const override { return labelled(request_.host_instance_id); }

 private:
  hostler_status call_driver() override;
  bool take_record(const hostler_rec& record) override;
  std::string rule_broken_by_success() override;
  [[nodiscard]] bool effect_seen() const override { return effect_seen_; }
  model::CreateRequest request_;
  OnRecord on_record_;
  TextsLeft texts_left_;
  bool effect_seen_ = false;  ///< The driver has emitted an instance.
};

class ListCall final : public Call<std::vector<model::ListedInstance>> {
 public:
  ListCall(std::shared_ptr<Connection> connection, Listener& listener, model::ListRequest request,
           DriverSet::Done<std::vector<model::ListedInstance>> done);

 private:
  hostler_status call_driver() override;
  bool take_record(const hostler_rec& record) override;
  model::ListRequest request_;
  TextsLeft texts_left_;
};

class DestroyCall final : public Call<DriverSet::Nothing> {
 public:
  DestroyCall(std::shared_ptr<Connection> connection, Listener& listener,
              model::DestroyRequest request, DriverSet::Done<DriverSet::Nothing> done);

  [[nodiscard]] std::string label() const override { return labelled(request_.id); }

 private:
  hostler_status call_driver() override;
  model::DestroyRequest request_;
};

class SetTagsCall final : public Call<DriverSet::Nothing> {
 public:
  SetTagsCall(std::shared_ptr<Connection> connection, Listener& listener,
              model::SetTagsRequest request, DriverSet::Done<DriverSet::Nothing> done);

 private:
  hostler_status call_driver() override;
  model::SetTagsRequest request_;
};

}  // namespace hostler::plugin_host
