#include "lxd_set.h"

HOSTLER_REGISTER(hostler::lxd::LxdSet)
