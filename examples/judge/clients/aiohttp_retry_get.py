"""aiohttp-retry: one GET with the default retries of RetryClient."""

import asyncio
import sys

from aiohttp_retry import RetryClient


async def get(url):
    async with RetryClient() as client, client.get(url) as answer:
        print(answer.status, await answer.text())
        return answer.ok


sys.exit(0 if asyncio.run(get(sys.argv[1] + "/v1/things")) else 1)
