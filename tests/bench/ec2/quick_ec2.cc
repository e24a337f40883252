#include "tests/bench/ec2/quick_ec2.h"

#include <cstdlib>
#include <numeric>

namespace hostler::ec2::bench {
namespace {

using hostler::bench::QuickRequest;
using hostler::bench::QuickServer;

std::string tag(const std::string& key, const std::string& value) {
  return "<item><key>" + key + "</key><value>" + value + "</value></item>";
}

/// As EC2 shows one that runs, with what the driver does not read.
std::string instance(int number) {
  const std::string eleven = std::to_string(10'000'000'000 + number);
  const std::string key = "00000000-0000-4000-8000-0" + eleven;
  return "<item><instanceId>i-000000" + eleven +
         "</instanceId><imageId>ami-00000000000000001</imageId>"
         "<instanceState><code>16</code><name>running</name></instanceState>"
         "<privateDnsName>ip-10-0-0-7.ec2.internal</privateDnsName><dnsName/><reason/>"
         "<keyName>hostler-0011223344556677</keyName><amiLaunchIndex>0</amiLaunchIndex>"
         "<productCodes/><instanceType>m6i.large</instanceType>"
         "<launchTime>2026-11-25T03:00:00.000Z</launchTime><placement>"
         "<availabilityZone>us-east-1a</availabilityZone><groupName/><tenancy>default</tenancy>"
         "</placement><monitoring><state>disabled</state></monitoring>"
         "<subnetId>subnet-00000000000000001</subnetId><vpcId>vpc-00000000000000001</vpcId>"
         "<privateIpAddress>10.0.0.7</privateIpAddress>"
         "<sourceDestCheck>true</sourceDestCheck><groupSet><item><groupId>sg-00000000000000001"
         "</groupId><groupName>hostler</groupName></item></groupSet>"
         "<architecture>x86_64</architecture><rootDeviceType>ebs</rootDeviceType>"
         "<rootDeviceName>/dev/xvda</rootDeviceName><blockDeviceMapping><item><deviceName>"
         "/dev/xvda</deviceName><ebs><volumeId>vol-00000000000000001</volumeId><status>attached"
         "</status><attachTime>2026-11-25T03:00:01.000Z</attachTime><deleteOnTermination>true"
         "</deleteOnTermination></ebs></item></blockDeviceMapping>"
         "<virtualizationType>hvm</virtualizationType><clientToken>" +
         key + "</clientToken><tagSet>" + tag("hostler-set", "s") + tag("hostler-key", key) +
         tag("hostler-owner", "o") + tag("hostler-pool", "default") + tag("hostler-type", "small") +
         tag("hostler-driver-request", "0011223344556677") +
         "</tagSet><hypervisor>xen</hypervisor><networkInterfaceSet><item>"
         "<networkInterfaceId>eni-00000000000000001</networkInterfaceId>"
         "<subnetId>subnet-00000000000000001</subnetId><status>in-use</status>"
         "<macAddress>02:00:00:00:00:01</macAddress><privateIpAddress>10.0.0.7"
         "</privateIpAddress></item></networkInterfaceSet><ebsOptimized>true</ebsOptimized>"
         "</item>";
}

std::shared_ptr<const std::string> answer(const std::string& action, const std::string& space,
                                          const std::string& inside) {
  return std::make_shared<const std::string>(hostler::bench::http_answer(
      "200 OK", "text/xml;charset=UTF-8",
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<" + action + "Response xmlns=\"" + space +
          "\">" + inside + "</" + action + "Response>"));
}

std::shared_ptr<const std::string> of_ec2(const std::string& action, const std::string& inside) {
  return answer(action, "http://ec2.amazonaws.com/doc/2016-11-15/",
                "<requestId>r-1</requestId>" + inside);
}

std::shared_ptr<const std::string> page(int number, bool is_last) {
  std::string all = "<reservationSet>";
  for (int i = 0; i < QuickEc2::kPage; ++i)
    all +=
        "<item><reservationId>r-1</reservationId><ownerId>123456789012</ownerId><groupSet/>"
        "<instancesSet>" +
        instance(number * QuickEc2::kPage + i) + "</instancesSet></item>";
  all += "</reservationSet>";
  if (!is_last) all += "<nextToken>" + std::to_string(number + 1) + "</nextToken>";
  return of_ec2("DescribeInstances", all);
}

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

QuickEc2::QuickEc2(int pages)
    : none_(of_ec2("DescribeInstances", "<reservationSet/>")),
      created_(of_ec2("RunInstances", "<instancesSet>" + instance(0) + "</instancesSet>")),
      identity_(answer("GetCallerIdentity", "https://sts.amazonaws.com/doc/2011-06-15/",
                       "<GetCallerIdentityResult><Account>123456789012</Account>"
                       "</GetCallerIdentityResult>")),
      server_(QuickServer::On::kLoopback,
              [this](const QuickRequest& request) { return answer_to(request.body); }) {
  for (int i = 0; i < pages; ++i) pages_.push_back(page(i, i + 1 == pages));
}

std::size_t QuickEc2::list_bytes() const {
  return std::accumulate(pages_.begin(), pages_.end(), std::size_t{0},
                         [](std::size_t sum, const Text& one) { return sum + one->size(); });
}

QuickEc2::Text QuickEc2::answer_to(const std::string& body) const {
  if (has(body, "Action=RunInstances")) return created_;
  if (has(body, "Action=GetCallerIdentity")) return identity_;
  if (has(body, "MaxResults=5&")) return none_;  // of an opening
  const std::size_t token = body.find("NextToken=");
  const std::size_t number =
      token == std::string::npos ? 0 : std::strtoul(body.c_str() + token + 10, nullptr, 10);
  return pages_.at(number);
}

}  // namespace hostler::ec2::bench
