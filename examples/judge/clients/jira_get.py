"""jira (Python): reads one issue."""

import sys

from jira import JIRA

client = JIRA(sys.argv[1], token_auth="token", get_server_info=False, timeout=4)
print(client.issue("TEST-1").key)
