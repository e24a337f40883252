#include "meanings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace hostler::ec2 {
namespace {

constexpr std::uint32_t kTypeInZone = HOSTLER_SCOPE_TYPE | HOSTLER_SCOPE_ZONE;
constexpr std::uint32_t kMarketOfAccount = HOSTLER_SCOPE_ACCOUNT | HOSTLER_SCOPE_MARKET;
constexpr std::uint32_t kMarketOfGroup = HOSTLER_SCOPE_GROUP | HOSTLER_SCOPE_MARKET;

constexpr std::array kMeanings{
    // The provider has no stock.
    Meaning{"InsufficientFreeAddressesInSubnet", HOSTLER_E_CAPACITY, HOSTLER_SCOPE_SUBNET},
    Meaning{"InsufficientAddressCapacity", HOSTLER_E_CAPACITY, HOSTLER_SCOPE_REGION},
    Meaning{"InsufficientVolumeCapacity", HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ZONE},
    Meaning{"InsufficientCapacityOnHost", HOSTLER_E_CAPACITY, HOSTLER_SCOPE_TYPE},
    Meaning{"Insufficient*", HOSTLER_E_CAPACITY, kTypeInZone},
    Meaning{"ReservationCapacityExceeded", HOSTLER_E_CAPACITY, kTypeInZone},
    Meaning{"UnfulfillableCapacity", HOSTLER_E_CAPACITY, kTypeInZone},
    Meaning{"SpotMaxPriceTooLow", HOSTLER_E_CAPACITY, kTypeInZone | HOSTLER_SCOPE_MARKET},
    Meaning{"InvalidParameter*", HOSTLER_E_CAPACITY, HOSTLER_SCOPE_SUBNET, "sufficient free ipv"},
    // Limits of the account.
    Meaning{"VcpuLimitExceeded", HOSTLER_E_QUOTA, HOSTLER_SCOPE_GROUP},
    Meaning{"MaxSpotInstanceCountExceeded", HOSTLER_E_QUOTA, kMarketOfGroup},
    Meaning{"InstanceLimitExceeded", HOSTLER_E_QUOTA, kMarketOfAccount},
    Meaning{"TagLimitExceeded", HOSTLER_E_QUOTA, HOSTLER_SCOPE_OPERATION},
    Meaning{"RequestLimitExceeded", HOSTLER_E_RATE_LIMIT, HOSTLER_SCOPE_OPERATION},
    Meaning{"BandwidthLimitExceeded", HOSTLER_E_RATE_LIMIT, HOSTLER_SCOPE_OPERATION},
    Meaning{"VolumeLimitExceeded", HOSTLER_E_QUOTA, HOSTLER_SCOPE_ACCOUNT},
    Meaning{"MaxIOPSLimitExceeded", HOSTLER_E_QUOTA, HOSTLER_SCOPE_ACCOUNT},
    Meaning{"NetworkInterfaceLimitExceeded", HOSTLER_E_QUOTA, HOSTLER_SCOPE_ACCOUNT},
    Meaning{"AddressLimitExceeded", HOSTLER_E_QUOTA, HOSTLER_SCOPE_ACCOUNT},
    Meaning{"HostLimitExceeded", HOSTLER_E_QUOTA, HOSTLER_SCOPE_GROUP},
    Meaning{"ResourceLimitExceeded", HOSTLER_E_QUOTA, HOSTLER_SCOPE_ACCOUNT},
    Meaning{"ResourceCountExceeded", HOSTLER_E_INVALID},
    // Too many requests. EC2 counts those of each action apart.
    Meaning{"Throttl*", HOSTLER_E_RATE_LIMIT, HOSTLER_SCOPE_OPERATION},
    Meaning{"RequestThrottled*", HOSTLER_E_RATE_LIMIT, HOSTLER_SCOPE_OPERATION},
    Meaning{"EC2ThrottledException", HOSTLER_E_RATE_LIMIT, HOSTLER_SCOPE_OPERATION},
    Meaning{"TooManyRequests*", HOSTLER_E_RATE_LIMIT, HOSTLER_SCOPE_OPERATION},
    Meaning{"PriorRequestNotComplete", HOSTLER_E_RATE_LIMIT, HOSTLER_SCOPE_OPERATION},
    Meaning{"SlowDown", HOSTLER_E_RATE_LIMIT, HOSTLER_SCOPE_OPERATION},
    // Who asks, and whether they may.
    Meaning{"UnauthorizedOperation", HOSTLER_E_AUTH, HOSTLER_SCOPE_OPERATION},
    Meaning{"AccessDenied*", HOSTLER_E_AUTH, HOSTLER_SCOPE_OPERATION},
    Meaning{"AuthFailure", HOSTLER_E_AUTH},
    Meaning{"Blocked", HOSTLER_E_AUTH},
    Meaning{"ExpiredToken*", HOSTLER_E_AUTH},
    Meaning{"IncompleteSignature*", HOSTLER_E_AUTH},
    Meaning{"InvalidAccessKeyId", HOSTLER_E_AUTH},
    Meaning{"InvalidClientTokenId", HOSTLER_E_AUTH},
    Meaning{"InvalidSecurityToken", HOSTLER_E_AUTH},
    Meaning{"MissingAuthenticationToken*", HOSTLER_E_AUTH},
    Meaning{"OptInRequired", HOSTLER_E_AUTH},
    Meaning{"PendingVerification", HOSTLER_E_AUTH},
    Meaning{"RequestExpired", HOSTLER_E_AUTH},
    Meaning{"SignatureDoesNotMatch", HOSTLER_E_AUTH},
    Meaning{"UnrecognizedClient*", HOSTLER_E_AUTH},
    // What cannot be had.
    Meaning{"Unsupported", HOSTLER_E_UNSUPPORTED, kTypeInZone},
    Meaning{"VolumeTypeNotAvailableInZone", HOSTLER_E_UNSUPPORTED, kTypeInZone},
    Meaning{"UnsupportedOperation", HOSTLER_E_UNSUPPORTED},
    Meaning{"Unsupported*", HOSTLER_E_UNSUPPORTED, HOSTLER_SCOPE_TYPE},
    Meaning{"UnknownVolumeType", HOSTLER_E_INVALID},
    // What is not there.
    Meaning{"InvalidAMIID*", HOSTLER_E_NOT_FOUND, HOSTLER_SCOPE_IMAGE},
    Meaning{"InvalidSubnet*", HOSTLER_E_NOT_FOUND, HOSTLER_SCOPE_SUBNET},
    Meaning{"InvalidZone.NotFound", HOSTLER_E_INVALID, HOSTLER_SCOPE_ZONE},
    Meaning{"InvalidKeyPair.NotFound", HOSTLER_E_NOT_FOUND},
    Meaning{"InvalidPlacementGroup.Unknown", HOSTLER_E_NOT_FOUND},
    Meaning{"Invalid*NotFound", HOSTLER_E_NOT_FOUND},
    // States that pass.
    Meaning{"IncorrectInstanceState", HOSTLER_E_TRANSIENT},
    Meaning{"IncorrectState", HOSTLER_E_TRANSIENT},
    Meaning{"DependencyViolation", HOSTLER_E_TRANSIENT},
    Meaning{"VolumeInUse", HOSTLER_E_TRANSIENT},
    Meaning{"InvalidNetworkInterface.InUse", HOSTLER_E_TRANSIENT},
    Meaning{"InternalError", HOSTLER_E_TRANSIENT},
    Meaning{"InternalFailure", HOSTLER_E_TRANSIENT},
    Meaning{"ServerInternal", HOSTLER_E_TRANSIENT},
    Meaning{"Unavailable", HOSTLER_E_TRANSIENT},
    Meaning{"ServiceUnavailable*", HOSTLER_E_TRANSIENT},
    Meaning{"RequestTimeout*", HOSTLER_E_TRANSIENT},
    // Wrong requests.
    Meaning{"IdempotentParameterMismatch", HOSTLER_E_CONFLICT},
    Meaning{"IdempotentInstanceTerminated", HOSTLER_E_CONFLICT},
    Meaning{"OperationNotPermitted", HOSTLER_E_INVALID},
    Meaning{"VPCIdNotSpecified", HOSTLER_E_INVALID},
    Meaning{"Invalid*", HOSTLER_E_INVALID},
    Meaning{"Missing*", HOSTLER_E_INVALID},
    Meaning{"Malformed*", HOSTLER_E_INVALID},
    Meaning{"Unknown*", HOSTLER_E_INVALID},
    Meaning{"ValidationError", HOSTLER_E_INVALID},
    Meaning{"NoSuchVersion", HOSTLER_E_INVALID},
};

bool fits(std::string_view pattern, std::string_view code) {
  if (pattern.empty() || pattern.find('*') == std::string_view::npos) return pattern == code;
  const std::size_t star = pattern.find('*');
  const std::string_view begin = pattern.substr(0, star), end = pattern.substr(star + 1);
  return code.size() >= begin.size() + end.size() && code.substr(0, begin.size()) == begin &&
         code.substr(code.size() - end.size()) == end;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

std::vector<Meaning> all_meanings() { return {kMeanings.begin(), kMeanings.end()}; }

const Meaning* find_meaning(std::string_view code, std::string_view text) {
  for (const std::string_view side : {"Client.", "Server."})
    if (code.substr(0, side.size()) == side) code.remove_prefix(side.size());
  const std::string words = lower(text);
  const auto* const found =
      std::find_if(kMeanings.begin(), kMeanings.end(), [&](const Meaning& one) {
        return fits(one.code, code) && words.find(one.words) != std::string::npos;
      });
  return found == kMeanings.end() ? nullptr : found;
}

}  // namespace hostler::ec2
