import asyncio
import sys

from openfga_sdk import ClientConfiguration, OpenFgaClient
from openfga_sdk.client.models import ClientCheckRequest

ID = "01HXYZ0000000000000000000A"


async def main():
    settings = ClientConfiguration(api_url=sys.argv[1], store_id=ID, authorization_model_id=ID)
    async with OpenFgaClient(settings) as client:
        request = ClientCheckRequest(user="user:anne", relation="reader", object="document:1")
        print((await client.check(request)).allowed)


asyncio.run(main())
