"""slack_sdk: posts one message with all handlers of its documentation: for connection errors, rate limits and 5xx."""

import sys

from slack_sdk import WebClient
from slack_sdk.http_retry.builtin_handlers import (
    ConnectionErrorRetryHandler,
    RateLimitErrorRetryHandler,
    ServerErrorRetryHandler,
)

handlers = [ConnectionErrorRetryHandler(), RateLimitErrorRetryHandler(), ServerErrorRetryHandler()]
client = WebClient("xoxb-token", base_url=sys.argv[1] + "/api/", timeout=4, retry_handlers=handlers)
print(client.chat_postMessage(channel="C1", text="Hello")["ts"])
