#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/ids.h"
#include "core/model/job.h"
#include "core/store/database.h"

/// The SQL of reads of work, in which the tables work, work_specs and leases are w, s and l.
namespace hostler::store {

struct JobFilter {
  model::WorkKind kind = model::WorkKind::kJob;
  std::vector<model::WorkState> states = {};  ///< Empty: any. A repeated state counts once.
  std::string principal = {}, name = {};      ///< Empty: any.
  model::WorkId after = {};                   ///< Only work after this; 0: from the start.
  bool newest_first = false;                  ///< Then only work before `after`.
  std::size_t limit = 100;                    ///< At most 10,000.
};

/// "SELECT " all columns of w and s; the body last, if it is wanted.
std::string select_work(bool body);
/// The columns of a model::LeaseRecord with empty texts: its keys and its notice command.
std::string lease_columns_without_texts();
/// A condition on w.
std::string is_of(model::WorkKind kind);

struct WorkQuery {
  std::string sql;
  std::vector<Value> values;
};
/// The next `rows` pieces of work, without bodies, behind `after`. Only those in the state, if one
/// is given; the states of the filter are left to the caller.
WorkQuery work_query(const JobFilter& filter, std::optional<model::WorkState> state,
                     std::int64_t after, std::size_t rows);

}  // namespace hostler::store
