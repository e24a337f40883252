#include "ec2_set.h"

HOSTLER_REGISTER(hostler::ec2::Ec2Set)
