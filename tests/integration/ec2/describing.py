"""Descriptions: those of moto with what it does not know, and those that it does not have."""

import datetime
import fnmatch

from account import parse
from answers import dress, element, encode, instances_in, keep, new_answer, text_of
from cloud_state import iso, numbered
from error_bodies import error
from forwarding import forwarded


def filters(parameters):
    """Names of filters and their values."""
    found = {}
    for name, value in parameters.items():
        words = name.split(".")
        if words[0] == "Filter" and words[-1] == "Name":
            found[value] = numbered(parameters, f"Filter.{words[1]}.Value")
    return found


def page(parameters, items, most):
    """Those of a page, and the token of the next or empty, as EC2 says it."""
    first = int(parameters.get("NextToken") or 0)
    size = min(int(parameters.get("MaxResults") or most), most)
    return items[first:first + size], str(first + size) if first + size < len(items) else ""


def by_token(cloud, parameters):
    """The answer for a filter that moto does not know; None: the request has none."""
    wanted = filters(parameters).get("client-token")
    if not wanted:
        return None
    names = [made for token, (_, made) in cloud.tokens.items() if token[0] in wanted]
    if not names:
        root = new_answer("DescribeInstances")
        element(root, "reservationSet")
        return encode(root)
    root = cloud.account.call("DescribeInstances", **{f"InstanceId.{n}": name for n, name in enumerate(names, 1)})
    for _, item in instances_in(root):
        one = cloud.instances.get(text_of(item, "instanceId"))
        if one:
            dress(item, one)
    return encode(root)


def instances(cloud, request, forward):
    known = by_token(cloud, request.parameters)
    if known is not None:
        return 200, known
    status, body = forwarded(cloud, request, forward)
    if status != 200:
        return status, body
    root = parse(body)
    if "MaxResults" in request.parameters:
        cut(root, cloud.instance_page)
    hidden = set()
    with cloud.lock:
        for _, item in instances_in(root):
            one = cloud.instances.get(text_of(item, "instanceId"))
            if not one:
                continue
            dress(item, one)
            if one.hidden:
                one.hidden -= 1
                hidden.add(one.id)
    if hidden & set(numbered(request.parameters, "InstanceId")):
        return error("InvalidInstanceID.NotFound", instance=min(hidden))
    keep(root, lambda _, name: name not in hidden)
    return 200, encode(root)


def cut(root, size):
    """A page of reservations may have fewer than the caller takes. Moto begins the next one after that of the token."""
    found = root.find("reservationSet")
    reservations = list(found)
    if len(reservations) <= size:
        return
    for one in reservations[size:]:
        found.remove(one)
    for token in root.findall("nextToken"):
        root.remove(token)
    element(root, "nextToken", text_of(reservations[size - 1], "reservationId"))


def volumes(cloud, request, forward):
    status, body = forwarded(cloud, request, forward)
    if status != 200 or not cloud.volume_age:
        return status, body
    root = parse(body)
    for time in root.findall("volumeSet/item/createTime"):
        time.text = iso(datetime.datetime.fromisoformat(time.text).timestamp() - cloud.volume_age)
    return 200, encode(root)


def statuses(cloud, request, forward):
    status, body = forwarded(cloud, request, forward)
    if status != 200:
        return status, body
    return 200, encode(with_events(cloud, parse(body)))


def statuses_with_events(cloud, request, _):
    """What moto cannot filter: those with an event."""
    root = with_events(cloud, cloud.account.call("DescribeInstanceStatus", IncludeAllInstances="true"))
    found = root.find("instanceStatusSet")
    patterns = filters(request.parameters)["event.code"]
    for item in found.findall("item"):
        codes = [code.text for code in item.findall("eventsSet/item/code")]
        if not any(fnmatch.fnmatchcase(code, pattern) for code in codes for pattern in patterns):
            found.remove(item)
    return 200, encode(root)


def with_events(cloud, root):
    for item in root.findall("instanceStatusSet/item"):
        one = cloud.instances.get(text_of(item, "instanceId"))
        if not one:
            continue
        for event in item.findall("eventsSet"):
            item.remove(event)
        events = element(item, "eventsSet")
        for event in one.events:
            made = element(events, "item")
            for name, value in event.items():
                element(made, name, value)
        if one.status:
            for name in ("systemStatus", "instanceStatus"):
                item.find(name + "/status").text = one.status
    return root


def prices(cloud, request, _):
    """Newest first, and what held at the beginning of the time that was asked for."""
    parameters = request.parameters
    zones = filters(parameters).get("availability-zone") or sorted(cloud.account.subnets)
    if parameters.get("AvailabilityZone"):
        zones = [parameters["AvailabilityZone"]]
    kinds = numbered(parameters, "InstanceType") or filters(parameters).get("instance-type", [])
    since = parameters.get("StartTime", "")
    items = []
    for kind in kinds:
        for zone in zones:
            history = [(iso(when), price) for when, price in
                       cloud.prices.get((kind, zone)) or [(cloud.now() - 3600, cloud.default_price)]]
            before = [one for one in history if one[0] <= since][-1:]
            items += [(when, kind, zone, price) for when, price in before + [one for one in history if one[0] > since]]
    some, token = page(parameters, sorted(items, reverse=True), cloud.price_page)
    root = new_answer("DescribeSpotPriceHistory")
    found = element(root, "spotPriceHistorySet")
    for when, kind, zone, price in some:
        item = element(found, "item")
        for name, value in (("instanceType", kind), ("productDescription", "Linux/UNIX"),
                            ("spotPrice", f"{price:.6f}"), ("timestamp", when), ("availabilityZone", zone)):
            element(item, name, value)
    element(root, "nextToken", token)
    return 200, encode(root)


def wanted(one, asked):
    """Whether a spot request passes the filters; raises KeyError for one that is not here."""
    mine = {"spot-instance-request-id": one.spot_request, "instance-id": one.id, "state": one.spot_status[0],
            "status-code": one.spot_status[1]}
    for name, values in asked.items():
        value = one.request_tags.get(name[4:]) if name.startswith("tag:") else mine[name]
        if value not in values:
            return False
    return True


def spot_requests(cloud, request, _):
    asked = filters(request.parameters)
    named = numbered(request.parameters, "SpotInstanceRequestId")
    with cloud.lock:
        known = [one for one in cloud.instances.values() if one.spot]
    if set(named) - {one.spot_request for one in known}:
        return error("InvalidSpotInstanceRequestID.NotFound", message="The spot instance request ID "
                     f"'{sorted(set(named))[0]}' does not exist")
    try:
        found = [one for one in known if (not named or one.spot_request in named) and wanted(one, asked)]
    except KeyError as problem:
        return error("InvalidParameterValue", why=f"The filter {problem} is invalid")
    some, token = page(request.parameters, found, 1000)
    root = new_answer("DescribeSpotInstanceRequests")
    answer = element(root, "spotInstanceRequestSet")
    for one in some:
        describe_spot_request(cloud, element(answer, "item"), one)
    if token:
        element(root, "nextToken", token)
    return 200, encode(root)


def describe_spot_request(cloud, item, one):
    element(item, "spotInstanceRequestId", one.spot_request)
    element(item, "type", "one-time")
    element(item, "state", one.spot_status[0])
    status = element(item, "status")
    element(status, "code", one.spot_status[1])
    element(status, "updateTime", iso(one.spot_changed + cloud.clock_offset))
    element(status, "message", one.spot_status[2])
    element(item, "instanceId", one.id)
    element(item, "launchedAvailabilityZone", one.zone)
    tags = element(item, "tagSet")
    for key, value in one.request_tags.items():
        tag = element(tags, "item")
        element(tag, "key", key)
        element(tag, "value", value)


def placement_groups(cloud, request, _):
    return described(request, "placementGroupSet", "GroupName", cloud.groups,
                     lambda name: {"groupName": name, "strategy": "cluster", "state": "available"},
                     lambda name: error("InvalidPlacementGroup.Unknown", group=name))


def capacity_reservations(cloud, request, _):
    return described(request, "capacityReservationSet", "CapacityReservationId", cloud.reservations,
                     lambda name: {"capacityReservationId": name,
                                   "availableInstanceCount": str(cloud.reservations[name]), "state": "active"},
                     lambda name: error("InvalidCapacityReservationId.NotFound", reservation=name))


def described(request, answer, parameter, known, fields, unknown):
    """Those that a request names, or all that are known, in the element `answer`; `unknown(name)` for one that is not."""
    names = numbered(request.parameters, parameter) or sorted(known)
    root = new_answer(request.parameters["Action"])
    found = element(root, answer)
    for name in names:
        if name not in known:
            return unknown(name)
        item = element(found, "item")
        for key, value in fields(name).items():
            element(item, key, value)
    return 200, encode(root)
