#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/records.h"

namespace hostler::store {

/// Commits made one: of several changes of one subject the last stays, of prices and
/// of the ledger every record.
/// Points into the commits, which must outlive it.
struct Batch {
  struct Inserted {
    const model::WorkItem* item;
    const model::WorkRecord* record;  ///< The newest, be it from a later change.
  };
  struct Attempt {
    const model::AttemptChanged* last;
    const model::AttemptEnd* end;     ///< The newest; null: none came.
    const model::AttemptEnd* output;  ///< The one that brought inline output; null: none did.
  };
  struct Instance {
    const model::InstanceRecord* record;
    const model::CreateRequest* create;  ///< Null: none came.
    bool erase_create;
  };

  std::vector<Inserted> inserted;
  std::vector<const model::WorkRecord*> work;  ///< Of work that is in the store already.
  std::vector<Attempt> attempts;
  std::vector<Instance> instances;
  std::map<std::string_view, const model::GateRecord*> gates;  ///< Null: opened.
  std::vector<const model::PriceSeen*> prices;
  std::vector<const model::LedgerRecord*> ledger;
};

Batch make_batch(std::span<const model::Commit* const> commits);

}  // namespace hostler::store
