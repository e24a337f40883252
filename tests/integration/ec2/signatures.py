"""What moto does not check of a request's signature: its date; and all of it where the proxy answers itself."""

import datetime
import re

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

WINDOW = 5 * 60  # seconds that a date may be off
CREDENTIAL = re.compile(r"Credential=([^/,]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request")


def parts(headers):
    """Key id, day, region and service of a signed request; None if it is not signed."""
    found = CREDENTIAL.search(headers.get("Authorization", ""))
    return found.groups() if found else None


def is_fresh(headers, now):
    """Whether its date is that of `now`, seconds since 1970, or nearly."""
    try:
        date = datetime.datetime.strptime(headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ")
    except (KeyError, TypeError, ValueError):
        return False
    return abs(date.replace(tzinfo=datetime.timezone.utc).timestamp() - now) <= WINDOW


def is_right(method, url, headers, body, secrets):
    """Whether the signature is that of one of the keys in `secrets`."""
    said = parts(headers)
    if not said or said[0] not in secrets:
        return False
    secret, token = secrets[said[0]]
    if token and headers.get("X-Amz-Security-Token") != token:
        return False
    names = re.search(r"SignedHeaders=([^,]+)", headers["Authorization"])[1].split(";")
    signed = {name: value for name, value in headers.items() if name.lower() in names}
    request = AWSRequest(method, url, data=body, headers=signed)
    request.context["timestamp"] = headers["X-Amz-Date"]
    auth = SigV4Auth(Credentials(said[0], secret, token or None), said[3], said[2])
    signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    return f"Signature={signature}" in headers["Authorization"]
