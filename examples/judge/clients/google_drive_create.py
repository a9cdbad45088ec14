"""google-api-python-client: creates one file with the default of no retries."""

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
print(drive.files().create(body={"name": "notes"}).execute())
