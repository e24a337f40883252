#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/gates/gates.h"
#include "core/model/records.h"

namespace hostler::gates {

/// How new hosts of one kind came up lately. The kind is the set, pool, type, zone and market of a
/// GateQuery; its image counts for the whole pool. Says when a boot gate is to be shut; the gate
/// itself is one of Gates. Lost at a restart.
class BootHistory {
 public:
  /// A host did not come up; `init`: its init command failed. `text` says which host and why, for
  /// people. Returns the gates to shut, without times: of the kind after three failures in a row or
  /// five in the last ten boots; of the image in the pool after three failures of init commands in
  /// a row, or failures of three types without a success of one of them.
  std::vector<model::GateRecord> failed(const GateQuery& boot, bool init, const std::string& text);
  void succeeded(const GateQuery& boot);
  /// The settings by which hosts boot have changed.
  void forget() { kinds_.clear(), images_.clear(); }

 private:
  struct Kind {
    std::deque<bool> last;  ///< Ten at most; true: came up.
    std::uint32_t in_a_row = 0;
  };
  struct Image {
    std::uint32_t init_in_a_row = 0;
    std::set<std::string> types;  ///< That failed, none of them with a success since.
  };
  std::map<std::tuple<std::string, std::string, std::string, std::string, model::Market>, Kind>
      kinds_;
  std::map<std::tuple<std::string, std::string, std::string>, Image> images_;
};

}  // namespace hostler::gates
