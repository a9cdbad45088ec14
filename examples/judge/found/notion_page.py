import sys

from notion_client import Client

notion = Client(auth="any", base_url=sys.argv[1], timeout_ms=4000)
print(notion.pages.retrieve("1d1f6f0c-6d2c-4a39-9c3e-5a54b8a2f0aa"))
