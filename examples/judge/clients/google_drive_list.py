"""google-api-python-client: lists files. It retries answers only with `num_retries`."""

import sys

from google.auth.credentials import AnonymousCredentials
from googleapiclient.discovery import build

drive = build(
    "drive",
    "v3",
    credentials=AnonymousCredentials(),
    client_options={"api_endpoint": sys.argv[1] + "/drive/v3/"},
    static_discovery=True,
)
print(drive.files().list().execute(num_retries=4))
