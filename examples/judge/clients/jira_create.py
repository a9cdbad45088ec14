"""jira (Python): adds one comment."""

import sys

from jira import JIRA

client = JIRA(sys.argv[1], token_auth="token", get_server_info=False, timeout=4)
print(client.add_comment("TEST-1", "Hello").id)
