"""python-gitlab: reads one project."""

import sys

import gitlab

client = gitlab.Gitlab(sys.argv[1], private_token="token", timeout=4)
print(client.projects.get(1).name)
