"""elasticsearch (Python): adds one document, whose id the server chooses."""

import sys

from elasticsearch import Elasticsearch

with Elasticsearch(sys.argv[1], api_key="key") as client:
    print(client.index(index="things", document={"name": "thing"})["_id"])
