"""Errors of EC2 as EC2 words them: code, HTTP status, message. The words are those that users of EC2 have published in
reports of bugs; where EC2 names a thing, the message takes it by {name}."""

import uuid
from xml.sax.saxutils import escape

ERRORS = {
    "AuthFailure": (401, "AWS was not able to validate the provided access credentials"),
    "RequestExpired": (400, "Request has expired."),
    "UnauthorizedOperation": (403, "You are not authorized to perform this operation. User: {arn} is not authorized to "
                              "perform: ec2:{action} because no identity-based policy allows the ec2:{action} action"),
    "OptInRequired": (401, "You are not subscribed to this service. Please go to http://aws.amazon.com to subscribe."),
    "Blocked": (403, "This account is currently blocked and not recognized as a valid account. Please contact "
                "aws-verification@amazon.com if you have questions."),
    "PendingVerification": (400, "Your request for accessing resources in this region is being validated, and you will "
                            "not be able to launch additional resources in this region until the validation is "
                            "complete."),
    "RequestLimitExceeded": (503, "Request limit exceeded."),
    "InternalError": (500, "An internal error has occurred"),
    "Unavailable": (503, "The service is unavailable. Please try again shortly."),
    "InsufficientInstanceCapacity": (500, "We currently do not have sufficient {type} capacity in the Availability Zone "
                                     "you requested ({zone}). Our system will be working on provisioning additional "
                                     "capacity. You can currently get {type} capacity by not specifying an Availability "
                                     "Zone in your request or choosing {others}."),
    "InsufficientFreeAddressesInSubnet": (400, "There are not enough free addresses in subnet '{subnet}' to satisfy the "
                                          "requested number of instances."),
    "InsufficientVolumeCapacity": (400, "There is not enough capacity to fulfill your EBS volume provision request."),
    "ReservationCapacityExceeded": (400, "The requested reservation does not have sufficient compatible and available "
                                    "capacity for this request."),
    "VcpuLimitExceeded": (400, "You have requested more vCPU capacity than your current vCPU limit of {limit} allows "
                          "for the instance bucket that the specified instance type belongs to. Please visit "
                          "http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit."),
    "InstanceLimitExceeded": (400, "Your quota allows for 0 more running instance(s). You requested at least 1"),
    "MaxSpotInstanceCountExceeded": (400, "Max spot instance count exceeded"),
    "SpotMaxPriceTooLow": (400, "Your Spot request price of {price} is lower than the minimum required Spot request "
                           "fulfillment price of {least}."),
    "Unsupported": (400, "Your requested instance type ({type}) is not supported in your requested Availability Zone "
                    "({zone}). Please retry your request by not specifying an Availability Zone or choosing {others}."),
    "IdempotentParameterMismatch": (400, "Arguments on this idempotent request are inconsistent with arguments used in "
                                    "previous request(s)."),
    "IdempotentInstanceTerminated": (400, "The client token you have provided is associated with a terminated "
                                     "instance. Please use a different client token."),
    "InvalidInstanceID.NotFound": (400, "The instance ID '{instance}' does not exist"),
    "InvalidAMIID.NotFound": (400, "The image id '[{image}]' does not exist"),
    "InvalidSubnetID.NotFound": (400, "The subnet ID '{subnet}' does not exist"),
    "InvalidPlacementGroup.Unknown": (400, "The Placement Group '{group}' is unknown."),
    "InvalidCapacityReservationId.NotFound": (400, "The Capacity Reservation ID '{reservation}' does not exist."),
    "InvalidParameterValue": (400, "{why}"),
    "InvalidKeyPair.Duplicate": (400, "The keypair already exists"),
    "IncorrectInstanceState": (400, "The instance '{instance}' is not in a state from which it can be started."),
}


class Known(dict):
    def __missing__(self, name):
        return "{" + name + "}"


def error(code, status=None, message=None, **names):
    """Status and body. A code that is not in the table needs both."""
    of_table = ERRORS.get(code, (400, code))
    text = message if message is not None else of_table[1].format_map(Known(names))
    body = (f'<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors><Error><Code>{escape(code)}</Code>'
            f"<Message>{escape(text)}</Message></Error></Errors><RequestID>{uuid.uuid4()}</RequestID></Response>")
    return status or of_table[0], body.encode()
