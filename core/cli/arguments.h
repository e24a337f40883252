#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cli/commands.h"

namespace hostler::cli {

/// The values of all options and arguments of `hostler`, as parsed, one member each.
struct Arguments {
  std::string url, token_file, ca_file;
  std::string form;  ///< Of a table: "wide", or empty.
  SubmitOptions submit;
  JobsOptions jobs;
  LeaseOptions lease;
  LeasesOptions leases;
  PriceOptions prices;
  CostOptions cost;
  SimulateOptions simulate;
  EvalOptions eval;
  PushOptions push;
  DriverOptions driver;
  DriverNewOptions driver_new;
  DriverCheckOptions check;
  CloudTestOptions cloudtest;
  DriverReplayOptions replay;
  std::vector<std::string> ids, files;
  std::string id, folder = ".", subject, reason, file, shell, sandbox, key;
  std::string snapshot, save_snapshot, format = "text";
  std::uint64_t list = 0;
  bool json = false, standard_error = false, follow = false, all = false, partial = false,
       unused = false;
  std::uint64_t after = 0;
};

}  // namespace hostler::cli
