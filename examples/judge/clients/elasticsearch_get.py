"""elasticsearch (Python): reads one document."""

import sys

from elasticsearch import Elasticsearch

with Elasticsearch(sys.argv[1], api_key="key") as client:
    print(client.get(index="things", id="1")["_source"])
