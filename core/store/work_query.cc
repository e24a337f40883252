#include "core/store/work_query.h"

#include <utility>

#include "core/store/rows.h"

namespace hostler::store {
namespace {

/// The tables of a list in the order of its join, and the column that it goes by.
struct JoinOrder {
  const char *tables, *id;
};
/// By the index that selects the fewest rows. CROSS JOIN fixes the order of the join: without
/// statistics a query planner may choose the wrong one. Without a filter jobs go by id, and other
/// kinds of work are left out one by one: they are few beside jobs.
JoinOrder join_order(const JobFilter& filter, bool by_state) {
  const bool by_spec = !filter.principal.empty() || !filter.name.empty();
  if (filter.kind == model::WorkKind::kLease && (by_spec || !by_state))
    return {"leases l CROSS JOIN work w CROSS JOIN work_specs s WHERE w.id = l.id AND", "l.id"};
  return by_spec ? JoinOrder{"work_specs s CROSS JOIN work w WHERE", "s.id"}
                 : JoinOrder{"work w CROSS JOIN work_specs s WHERE", "w.id"};
}

void where(WorkQuery& query, const std::string& condition, Value value) {
  query.values.push_back(std::move(value));
  query.sql += " AND " + condition + " $" + std::to_string(query.values.size());
}

}  // namespace

std::string select_work(bool body) {
  return "SELECT " + columns_sql<model::WorkRecord>("w") + ", " +
         columns_sql<model::WorkItem>("s") + (body ? ", s.body" : "");
}

std::string lease_columns_without_texts() {
  std::string out;
  for (const Column& column : columns_of<model::LeaseRecord>()) {
    const bool is_text = column.name == "ssh_keys" || column.name == "notice_command";
    out += (out.empty() ? "" : ", ") + (is_text ? "''" : std::string(column.name));
  }
  return out;
}

std::string is_of(model::WorkKind kind) {
  return "w.kind = " + std::to_string(static_cast<int>(kind));
}

WorkQuery work_query(const JobFilter& filter, std::optional<model::WorkState> state,
                     std::int64_t after, std::size_t rows) {
  const auto order = join_order(filter, state.has_value());
  const std::string id = order.id;
  WorkQuery query{
      select_work(false) + " FROM " + order.tables + " s.id = w.id AND " + is_of(filter.kind), {}};
  if (!filter.principal.empty()) where(query, "s.principal =", filter.principal);
  if (!filter.name.empty()) where(query, "s.name <> '' AND s.name =", filter.name);
  if (state) where(query, "w.state =", static_cast<std::int64_t>(*state));
  where(query, id + (filter.newest_first ? " <" : " >"), after);
  query.values.emplace_back(static_cast<std::int64_t>(rows));
  query.sql += " ORDER BY " + id + (filter.newest_first ? " DESC" : "") + " LIMIT $" +
               std::to_string(query.values.size());
  return query;
}

}  // namespace hostler::store
