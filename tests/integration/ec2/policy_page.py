"""The policy that the page of the driver shows."""

import json
import os
import re

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../plugins/ec2/README.md")


def policy_of_page():
    with open(PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"```json\n(.*?)```", file.read(), re.S)
    found = [json.loads(one) for one in blocks if '"Statement"' in one]
    if len(found) != 1:
        raise ValueError(f"{PAGE} has {len(found)} policies")
    return found[0]


def allowed_actions(policy):
    """Such as "ec2:RunInstances"; each once."""
    actions = [one["Action"] for one in policy["Statement"] if one["Effect"] == "Allow"]
    return sorted({one for some in actions for one in ([some] if isinstance(some, str) else some)})
