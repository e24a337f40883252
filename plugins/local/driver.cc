#include "local_set.h"

HOSTLER_REGISTER(hostler::local::LocalSet)
