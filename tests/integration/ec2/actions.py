"""The actions of EC2 that moto does not do as EC2 does. Each handler takes the state, the request and the way to moto,
and returns status and body."""

import base64
import hashlib
import json

import describing
from account import parse
from answers import dress, element, encode, instances_in, new_answer, text_of
from cloud_state import Instance, numbered, tags_for, value_of
from error_bodies import error
from forwarding import forwarded
from user_data import LIMIT, decode, follow

SUBNET = ("SubnetId", "NetworkInterface.*.SubnetId")


def zone_of(cloud, parameters):
    """The zone that a request names, by itself or by its subnet; empty if it leaves that to the cloud."""
    subnet = value_of(parameters, *SUBNET)
    zones = {name: zone for zone, name in cloud.account.subnets.items()}
    return zones.get(subnet, parameters.get("Placement.AvailabilityZone", ""))


def scripted_error(cloud, request, rule):
    """The error of a rule, with the names of the request."""
    parameters = request.parameters
    zone = zone_of(cloud, parameters) or "us-east-1a"
    names = {"type": parameters.get("InstanceType", ""), "zone": zone, "subnet": value_of(parameters, *SUBNET),
             "others": ", ".join(sorted(set(cloud.account.subnets) - {zone})), "limit": "32",
             "instance": value_of(parameters, "InstanceId.*", "InstanceId"), "image": parameters.get("ImageId", ""),
             "action": request.action, "arn": "arn:aws:iam::123456789012:user/hostler",
             "price": parameters.get("InstanceMarketOptions.SpotOptions.MaxPrice", ""), "least": "0.0374"}
    return error(rule.more["code"], rule.more.get("status"), rule.more.get("message"), **names)


# RunInstances.

def token_of(cloud, request):
    """What it is known by: tokens count in a zone, where the request names one."""
    token = request.parameters.get("ClientToken", "")
    return (token, zone_of(cloud, request.parameters), request.key) if token else None


def is_repeat(cloud, request):
    """Of a RunInstances that has been done: no fault comes between."""
    return request.action == "RunInstances" and token_of(cloud, request) in cloud.tokens


def digest(parameters):
    rest = {name: value for name, value in parameters.items() if name != "ClientToken"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def run_instances(cloud, request, forward):
    token = token_of(cloud, request)
    if not token:
        return create(cloud, request, forward)[0]
    with cloud.token_locks[token]:
        if token in cloud.tokens:
            return repeat(cloud, request, *cloud.tokens[token])
        answer, made = create(cloud, request, forward)
        if made:
            cloud.tokens[token] = (digest(request.parameters), made)
        return answer


def repeat(cloud, request, before, name):
    """The instance as it is now, for the same request only."""
    if before != digest(request.parameters):
        return error("IdempotentParameterMismatch")
    if cloud.instances[name].ended:
        return error("IdempotentInstanceTerminated")
    shown = cloud.account.call("DescribeInstances", **{"InstanceId.1": name})
    root = new_answer("RunInstances")
    root.extend(list(shown.find("reservationSet/item")))
    dress_all(cloud, root)
    return 200, encode(root)


def refuse_create(cloud, parameters):
    """An error, or None."""
    try:
        if len(decode(parameters.get("UserData", ""))) > LIMIT:
            return error("InvalidParameterValue", why=f"User data is limited to {LIMIT} bytes")
    except ValueError as problem:
        return error("InvalidParameterValue", why=problem)
    group = parameters.get("Placement.GroupName")
    if group and group not in cloud.groups:
        return error("InvalidPlacementGroup.Unknown", group=group)
    reservation = value_of(parameters, "CapacityReservationSpecification.*.CapacityReservationId")
    if reservation and reservation not in cloud.reservations:
        return error("InvalidCapacityReservationId.NotFound", reservation=reservation)
    if reservation and cloud.reservations[reservation] < 1:
        return error("ReservationCapacityExceeded")
    return refuse_market(cloud, parameters)


def refuse_market(cloud, parameters):
    spot = parameters.get("InstanceMarketOptions.MarketType") == "spot"
    limit = cloud.limits["spot" if spot else "on-demand"]
    if limit is not None and cloud.living(spot) >= limit:
        return error("MaxSpotInstanceCountExceeded") if spot else error("VcpuLimitExceeded", limit=2 * limit)
    most = parameters.get("InstanceMarketOptions.SpotOptions.MaxPrice")
    least = cloud.price(parameters.get("InstanceType", ""), zone_of(cloud, parameters) or "us-east-1a")
    if spot and most and float(most) < least:
        return error("SpotMaxPriceTooLow", price=most, least=least)
    return None


def create(cloud, request, forward):
    """The answer, and the name of the instance if there is one now."""
    with cloud.lock:  # limits hold for creates at the same time
        refused = refuse_create(cloud, request.parameters)
        if refused:
            return refused, None
        status, body = forwarded(cloud, request, forward)
        if status == 400 and b"<Code>InvalidInstanceType.NotFound<" in body:  # moto's own
            body = error("InvalidParameterValue", why="Invalid value "
                         f"'{request.parameters.get('InstanceType')}' for InstanceType.")[1]
        if status != 200 or not body.lstrip().startswith(b"<"):
            return (status, body), None
        root = parse(body)
        items = [item for _, item in instances_in(root)]
        for item in items:
            begin(cloud, request.parameters, item)
    tag_cards(cloud, request.parameters, items)
    dress_all(cloud, root)
    if cloud.doomed:
        cloud.end_by_cloud(text_of(items[0], "instanceId"), *cloud.doomed.pop(0))
    return (200, encode(root)), text_of(items[0], "instanceId")


def begin(cloud, parameters, item):
    """The machine of an instance that moto has made."""
    name = text_of(item, "instanceId")
    instructions = follow(decode(parameters.get("UserData", "")))
    machine = cloud.machines.create(name, instructions, cloud.keys.get(parameters.get("KeyName", ""), ""))
    one = Instance(name, parameters, text_of(item, "placement/availabilityZone"), machine)
    one.hidden = cloud.hide_new
    one.problems = instructions.problems
    cloud.instances[name] = one
    reservation = value_of(parameters, "CapacityReservationSpecification.*.CapacityReservationId")
    if reservation:
        cloud.reservations[reservation] -= 1


def tag_cards(cloud, parameters, items):
    """Network interfaces have the tags that moto drops, and those that EC2 made by itself end with their instance."""
    tags = tags_for(parameters, "network-interface")
    cards = [text_of(card, "networkInterfaceId") for item in items for card in item.iter("item")
             if card.find("networkInterfaceId") is not None]
    if not any(name.startswith("NetworkInterface.") for name in parameters):
        cloud.instances[text_of(items[0], "instanceId")].own_cards = cards
    if tags and cards:
        asked = {f"ResourceId.{n}": card for n, card in enumerate(cards, 1)}
        for n, (key, value) in enumerate(tags.items(), 1):
            asked.update({f"Tag.{n}.Key": key, f"Tag.{n}.Value": value})
        cloud.account.call("CreateTags", **asked)


def dress_all(cloud, root):
    for _, item in instances_in(root):
        one = cloud.instances.get(text_of(item, "instanceId"))
        if one:
            dress(item, one)


# What acts on machines.

def acting(act):
    """A handler that forwards, and where moto has done it acts on each instance of the request."""
    def handler(cloud, request, forward):
        status, body = forwarded(cloud, request, forward)
        if status == 200:
            for name in numbered(request.parameters, "InstanceId"):
                one = cloud.instances.get(name)
                if one:
                    act(cloud, one)
        return status, body
    return handler


def stop(cloud, one):
    one.reason = ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown")
    cloud.machines.later(one.machine.halt)


def start(cloud, one):
    one.reason = None
    cloud.machines.later(one.machine.boot)


def reboot(cloud, one):
    def again():
        one.machine.halt()
        one.machine.boot()
    cloud.machines.later(again)


def terminate(cloud, one):
    cloud.end(one.id, ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"))


def import_key_pair(cloud, request, forward):
    status, body = forwarded(cloud, request, forward)
    if status == 200:
        material = base64.b64decode(request.parameters.get("PublicKeyMaterial", "")).decode(errors="replace")
        cloud.keys[request.parameters.get("KeyName", "")] = material.strip()
    return status, body


def get_console_output(cloud, request, _):
    name = request.parameters.get("InstanceId", "")
    one = cloud.instances.get(name)
    if not one:
        return error("InvalidInstanceID.NotFound", instance=name)
    text = one.machine.console() if one.console is None else one.console.encode()
    root = new_answer("GetConsoleOutput")
    element(root, "instanceId", name)
    element(root, "timestamp", describing.iso(cloud.now()))
    element(root, "output", base64.b64encode(text[-65536:]).decode())
    return 200, encode(root)


HANDLERS = {
    "RunInstances": run_instances,
    "TerminateInstances": acting(terminate),
    "StopInstances": acting(stop),
    "StartInstances": acting(start),
    "RebootInstances": acting(reboot),
    "ImportKeyPair": import_key_pair,
    "GetConsoleOutput": get_console_output,
    "DescribeInstances": describing.instances,
    "DescribeInstanceStatus": describing.statuses,
    "DescribeVolumes": describing.volumes,
    "DescribeSpotPriceHistory": describing.prices,
    "DescribeSpotInstanceRequests": describing.spot_requests,
    "DescribePlacementGroups": describing.placement_groups,
    "DescribeCapacityReservations": describing.capacity_reservations,
}
# Moto is not asked: the proxy checks the signature.
OWN = {"GetConsoleOutput", "DescribeSpotPriceHistory", "DescribeSpotInstanceRequests", "DescribePlacementGroups",
       "DescribeCapacityReservations"}


def handler_of(request):
    """The handler of a request, or None; and whether moto is not asked."""
    if request.action == "DescribeInstanceStatus" and "event.code" in describing.filters(request.parameters):
        return describing.statuses_with_events, True
    return HANDLERS.get(request.action), request.action in OWN
