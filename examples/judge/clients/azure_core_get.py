"""azure-core (Python): one GET with the default RetryPolicy, which most Azure libraries use."""

import sys

from azure.core import PipelineClient
from azure.core.pipeline.policies import RetryPolicy
from azure.core.rest import HttpRequest

with PipelineClient(base_url=sys.argv[1], policies=[RetryPolicy()]) as client:
    answer = client.send_request(HttpRequest("GET", sys.argv[1] + "/v1/things"))
    answer.raise_for_status()
    print(answer.json())
