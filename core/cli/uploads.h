#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/api/job_codec.h"
#include "core/cli/client.h"

namespace hostler::cli {

/// Local files that become inputs of jobs. A file is read, and sent if the daemon lacks it, once
/// for all jobs of a submit: an array names the same thousands of times.
class Uploads {
 public:
  explicit Uploads(Client& client) : client_(client) {}

  /// Sends what the daemon lacks, and names it in the job by its content; a program stays one.
  /// kInvalidArgument: a file that cannot be read; the error names the input.
  Result<void> take(model::JobSpec& spec, const std::vector<api::LocalInput>& local);

 private:
  struct File {
    std::string sha256;
    bool executable = false;
  };
  static Result<File> read(const std::string& file);
  Result<File> send(const std::string& file);

  Client& client_;
  std::map<std::string, File> sent_;  ///< By the file's name.
};

}  // namespace hostler::cli
