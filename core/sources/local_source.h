#pragma once

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/sources/reading.h"

/// Sources of this machine: files and programs.
namespace hostler::sources {

/// The number of a file. The sample is as old as the file: one that nobody writes any more gets
/// old. Blocks on the file system, also for ever if that hangs; other things than regular files are
/// refused and never waited for.
Result<Samples> read_file_source(const model::MetricSource& source, Wall now);

/// The number that a program prints, 64 KiB at most. Blocks until the program has ended, at most
/// for the source's timeout, or until `stop_fd` is readable; then it is killed with all that it has
/// started. It gets PATH, HOME and LC_ALL, and nothing else of this process' environment.
Result<Samples> read_exec_source(const model::MetricSource& source, Wall now, int stop_fd);

}  // namespace hostler::sources
