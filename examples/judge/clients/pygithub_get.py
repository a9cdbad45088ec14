"""PyGithub: reads one repository."""

import sys

import github

client = github.Github(auth=github.Auth.Token("token"), base_url=sys.argv[1], timeout=4)
print(client.get_repo("octocat/hello-world").full_name)
