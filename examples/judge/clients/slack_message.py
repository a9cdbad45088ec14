"""slack_sdk: posts one message with the default handler, which retries only connection errors."""

import sys

from slack_sdk import WebClient

client = WebClient("xoxb-token", base_url=sys.argv[1] + "/api/", timeout=4)
print(client.chat_postMessage(channel="C1", text="Hello")["ts"])
