#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lies.h"
#include "saved.h"

namespace hostler::liar {

/// What a cloud needs to remember in order to lie: shared by all sets of one folder in this
/// process, since a reload opens a second set. Lost with the process. From any thread.
class Memory {
 public:
  static std::shared_ptr<Memory> of(const std::string& folder);
  explicit Memory(std::string folder) : folder_(std::move(folder)) {}

  /// The lies of the file, which is read anew.
  Lies lies();
  /// Appends a line to the file `calls`.
  void called(const std::string& line);
  /// Until the file `go-on` is in the folder, or the call is cancelled.
  void wait_for_go_on(const hostler_op& op) const;
  /// While this lie is told, also if the call is cancelled.
  void hang(std::string_view topic);
  /// Is this lie still to be told? Counts those that have `times=N`.
  bool tells(const Lie& lie);

  void make_failed(const Saved& instance);
  /// Appends the failed instances that the request asks for.
  void add_failed(const hostler_list_req& request, std::vector<Saved>& seen);
  void remove_failed(std::string_view id);

  void repaired(std::string_view id, std::string_view tag);
  bool is_repaired(std::string_view id, std::string_view tag);

  /// Remembers what was listed truly, for listed_before().
  void remember(const std::vector<Saved>& seen);
  /// As they were last seen before they ended.
  std::vector<Saved> listed_before();
  /// Has it been in fewer than `lists` lists since it was new? Counts this one; 0 counts it as old.
  bool is_late(std::string_view id, std::size_t lists);

 private:
  const std::string folder_;
  std::mutex mutex_;
  std::map<std::string, Saved, std::less<>> last_, failed_;
  std::map<std::string, std::size_t, std::less<>> lists_;
  std::map<std::string, int> told_;  // by line
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> repaired_;
};

}  // namespace hostler::liar
