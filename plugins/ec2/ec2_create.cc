// How an instance comes to be: by one RunInstances, whose client token is the key of the create.
#include <chrono>
#include <map>

#include "ec2_set.h"
#include "find_instances.h"
#include "record.h"

namespace hostler::ec2 {

using driver::Error;
using http::NoAnswer;

/// On a thread of its own, so that other calls do not wait for it.
hostler_status Ec2Set::create(const hostler_create_req& request, hostler_op* op) {
  CreateSpec spec = read_spec(request, config_, set_id_, shared_tags_, zones({}, op));
  const bool runs = workers_.run([this, spec, op] { driver::finish(op, [&] { run(spec, op); }); });
  if (runs) return HOSTLER_PENDING;
  run(std::move(spec), op);
  return HOSTLER_OK;
}

/// The zones of the subnets that are known, `subnet` among them if it is not empty.
Zones Ec2Set::zones(const std::string& subnet, hostler_op* op) {
  {
    const std::lock_guard lock(mutex_);
    if (subnet.empty() || zones_.count(subnet) != 0) return zones_;
  }
  const Subject subject{{}, {}, subnet, {}};
  const std::string zone = with_context("use the subnet " + subnet, subject, [&] {
    std::string found;
    Query query("DescribeSubnets");
    ec2_.each(
        query.add("SubnetId.1", subnet), 0, "subnetSet",
        [&](const Node& item) { found = text_of(item, "availabilityZone"); }, op);
    if (found.empty()) throw_not_amazon("a subnet without a zone");
    return found;
  });
  const std::lock_guard lock(mutex_);
  zones_[subnet] = zone;
  return zones_;
}

/// The name of the device that an image boots from.
std::string Ec2Set::root_device(const std::string& image, hostler_op* op) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = root_devices_.find(image); found != root_devices_.end())
      return found->second;
  }
  std::string device;
  Query query("DescribeImages");
  ec2_.each(
      query.add("ImageId.1", image), 0, "imagesSet",
      [&](const Node& item) { device = text_of(item, "rootDeviceName"); }, op);
  if (device.empty())
    throw Error(HOSTLER_E_NOT_FOUND, "there is no image " + image + " with a root device")
        .about(HOSTLER_SCOPE_IMAGE, image);
  const std::lock_guard lock(mutex_);
  return root_devices_[image] = device;
}

void Ec2Set::run(CreateSpec spec, hostler_op* op) {
  if (!spec.subnet.empty()) {
    const std::string zone = zones(spec.subnet, op)[spec.subnet];
    if (!spec.zone.empty() && spec.zone != zone)
      throw Error(HOSTLER_E_INVALID,
                  spec.subnet + " is in the zone " + zone + ", not in " + spec.zone)
          .about(HOSTLER_SCOPE_SUBNET | HOSTLER_SCOPE_ZONE);
    spec.zone = spec.subject.zone = zone;
  }
  with_context("create an instance", spec.subject, [&] {
    try {
      emit(send_create(spec, op), op);
    } catch (const Refused& refused) {
      // EC2 knows the key. The host asks for the same as before, so something of the set's config
      // has changed since, or the instance has come and gone.
      const bool is_known = refused.code() == "IdempotentParameterMismatch" ||
                            refused.code() == "IdempotentInstanceTerminated";
      if (!is_known) throw;
      find_created(spec, refused, op);
    }
  });
}

Instance Ec2Set::send_create(const CreateSpec& spec, hostler_op* op) {
  const std::string device = spec.needs_root_device ? root_device(spec.image, op) : "";
  for (bool again = false;; again = true) {
    KeyPairs::Name key_pair;
    if (!spec.public_key.empty())
      key_pair = key_pairs_.use(spec.public_key, spec.key_pair_tags, op);
    const std::string key_name = key_pair == nullptr ? "" : *key_pair;
    try {
      const Answer answer = ec2_.change(complete(spec, key_name, device), op);
      try {
        return read_instance(answer.need("instancesSet").child("item"));
      } catch (const NoAnswer& unreadable) {
        throw NoAnswer(HOSTLER_E_TRANSIENT, unreadable.what(), true);
      }
    } catch (const Refused& refused) {
      if (again || refused.code() != "InvalidKeyPair.NotFound" || key_name.empty()) throw;
      key_pairs_.forget(key_name);  // somebody has deleted it
    }
  }
}

/// Emits what the first create with this key has made.
void Ec2Set::find_created(const CreateSpec& spec, const Refused& refused, hostler_op* op) {
  std::map<std::string, Instance> all;
  try {
    Query query("DescribeInstances");
    all = find_instances(ec2_, query.add_filter("client-token", {spec.key}), op);
  } catch (const Refused& problem) {
    throw refusal_error(problem, "find the instance of the key " + spec.key).outcome_unknown();
  } catch (Error& problem) {
    problem.outcome_unknown();
    throw;
  }
  if (all.empty()) {
    if (refused.code() == "IdempotentInstanceTerminated") throw refused;
    // EC2 has made something, and its lists do not show it yet.
    throw Error(HOSTLER_E_TRANSIENT,
                "EC2 knows the key " + spec.key + ", but does not show its instance yet")
        .outcome_unknown();
  }
  const Instance& found = all.begin()->second;
  if (found.set_id != set_id_ || found.key != spec.key || found.digest != spec.digest)
    throw Error(HOSTLER_E_CONFLICT, found.id + " was created by a request with the same key, " +
                                        spec.key + ", and other arguments");
  emit(found, op);
}

}  // namespace hostler::ec2
