#pragma once

#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/records.h"

namespace hostler::store {

/// Several commits merged into one. Of several changes of one row the last is kept; of prices and
/// of the ledger every record is. It points into the commits, which must outlive it.
struct Batch {
  struct Inserted {
    const model::WorkItem* item;
    const model::WorkRecord* record;  ///< The newest, maybe of a later change.
  };
  struct Attempt {
    const model::AttemptChanged* last;
    const model::AttemptEnd* end;     ///< The newest; null: no change has one.
    const model::AttemptEnd* output;  ///< The end that has inline output; null: none has.
  };
  struct Instance {
    const model::InstanceRecord* record;
    const model::CreateRequest* create;  ///< Null: no change has one.
    bool erase_create;
  };

  std::vector<Inserted> inserted;
  std::vector<const model::WorkRecord*> work;  ///< Of work that was inserted before.
  std::map<model::WorkId, const model::LeaseRecord*> leases;
  std::vector<Attempt> attempts;
  std::vector<Instance> instances;
  std::map<std::string_view, const model::GateRecord*> gates;  ///< Null: the gate was opened.
  std::vector<const model::PriceRow*> prices;
  std::map<std::string_view, const model::SetAccount*> accounts;  ///< By set.
  /// By set and query. Null: forgotten.
  std::map<std::pair<std::string_view, std::string_view>, const model::ImageRow*> images;
  std::map<std::string_view, const model::PrincipalUse*> uses;     ///< By principal.
  std::map<std::string_view, const model::PusherRecord*> pushers;  ///< By pool.
  using OfferedKey =
      std::tuple<std::string_view, std::string_view, model::Market, std::string_view>;
  std::map<OfferedKey, const model::OfferedRow*> offered;  ///< Null: it is offered no longer.
  /// By set and type. Null: forgotten.
  std::map<std::pair<std::string_view, std::string_view>, const model::RamReport*> ram_reports;
  using GpuKey = std::tuple<std::string_view, std::string_view, std::string_view, std::int64_t>;
  std::map<GpuKey, const model::GpuReport*> gpu_reports;  ///< Null: forgotten.
  std::vector<const model::LedgerRecord*> ledger;
};

Batch make_batch(std::span<const model::Commit* const> commits);

}  // namespace hostler::store
