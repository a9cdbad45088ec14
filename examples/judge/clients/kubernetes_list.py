"""kubernetes (Python): lists the pods of one namespace."""

import sys

from kubernetes import client

api = client.CoreV1Api(client.ApiClient(client.Configuration(host=sys.argv[1])))
print(len(api.list_namespaced_pod("default").items))
