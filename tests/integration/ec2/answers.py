"""Answers of moto, made what EC2 would say, and then what a test wants them to be."""

import copy
import uuid
import xml.etree.ElementTree as ET

NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"


def element(parent, name, text=None):
    made = ET.SubElement(parent, name)
    made.text = text
    return made


def text_of(parent, path):
    found = parent.find(path)
    return found.text or "" if found is not None else ""


def put(parent, name, text):
    """Replaces the text of a member, or appends it."""
    found = parent.find(name)
    if found is None:
        found = element(parent, name)
    found.text = text


def remove(parent, name):
    for found in parent.findall(name):
        parent.remove(found)


def new_answer(action):
    root = ET.Element(action + "Response")
    element(root, "requestId", str(uuid.uuid4()))
    return root


def encode(root):
    root.set("xmlns", NAMESPACE)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root)


def instances_in(root):
    """Items of instances, each with the set that has it."""
    return [(found, item) for found in root.iter("instancesSet") for item in found.findall("item")]


def dress(item, one):
    """What moto leaves out or makes up of an instance."""
    if text_of(item, "instanceState/name") == "terminated":
        for name in ("privateIpAddress", "ipAddress", "dnsName", "privateDnsName", "networkInterfaceSet"):
            remove(item, name)
    else:
        dress_addresses(item, one)
    if one.spot:
        put(item, "instanceLifecycle", "spot")
        put(item, "spotInstanceRequestId", one.spot_request)
    else:
        remove(item, "instanceLifecycle")
    placement = item.find("placement")
    if placement is not None:
        put(placement, "groupName", one.parameters.get("Placement.GroupName", ""))
        put(placement, "tenancy", one.parameters.get("Placement.Tenancy", "default"))
    reservation = one.parameters.get(
        "CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId")
    if reservation:
        put(item, "capacityReservationId", reservation)
    remove(item, "stateReason")
    if one.reason:
        reason = element(item, "stateReason")
        element(reason, "code", one.reason[0])
        element(reason, "message", one.reason[1])


def dress_addresses(item, one):
    """Those of the machine; a public one only where the request asked for it."""
    asked = any(name.endswith("AssociatePublicIpAddress") and value == "true"
                for name, value in one.parameters.items())
    put(item, "privateIpAddress", one.machine.address)
    put(item, "privateDnsName", f"{one.machine.hostname}.ec2.internal")
    remove(item, "ipAddress")
    put(item, "dnsName", "")
    if asked:
        put(item, "ipAddress", one.machine.public_address)
    for card in item.findall("networkInterfaceSet/item"):
        put(card, "privateIpAddress", one.machine.address)
        remove(card, "association")
        for address in card.findall("privateIpAddressesSet/item"):
            put(address, "privateIpAddress", one.machine.address)
            remove(address, "association")
        if asked:
            put(element(card, "association"), "publicIp", one.machine.public_address)


# Lies about lists.

def keep(root, wanted):
    """Only the instances that `wanted(number, id)` wants; reservations that have none left go as well."""
    for number, (found, item) in enumerate(instances_in(root)):
        if not wanted(number, text_of(item, "instanceId")):
            found.remove(item)
    reservations = root.find("reservationSet")
    if reservations is not None:
        for item in reservations.findall("item"):
            if not item.findall("instancesSet/item"):
                reservations.remove(item)


def lie(root, rule, earlier):
    """The answer that a rule of faults makes of one; `earlier` is the one of the rule's first hit."""
    if rule.do == "empty":
        keep(root, lambda number, name: False)
        remove(root, "nextToken")
    elif rule.do == "partial":
        keep(root, lambda number, name: number % 2 == 0)
    elif rule.do == "without":
        keep(root, lambda number, name: name not in rule.more["instances"])
    elif rule.do == "stale":
        return copy.deepcopy(earlier)
    elif rule.do == "loop":
        put(root, "nextToken", "again")
    return root
