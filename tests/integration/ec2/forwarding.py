"""Requests that go on to moto as they are."""

import http.client

from account import parse
from answers import text_of
from error_bodies import error


def forwarded(cloud, request, forward):
    """As moto does it, which crashes on what it does not know."""
    try:
        status, body = forward(request)
    except (OSError, http.client.HTTPException):
        return error("InternalError")
    if request.service == "ec2" and status == 403 and b"<Code>AccessDenied<" in body:  # moto's own
        return unauthorized(request)
    if request.action == "AssumeRole" and status == 200:
        root = parse(body)
        found = [text_of(root, ".//" + name) for name in ("AccessKeyId", "SecretAccessKey", "SessionToken")]
        cloud.account.secrets[found[0]] = (found[1], found[2])
    return status, body


def unauthorized(request):
    return error("UnauthorizedOperation", action=request.action, arn="arn:aws:iam::123456789012:user/" + request.key)
