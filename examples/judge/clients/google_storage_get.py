"""google-cloud-storage (Python): reads the metadata of one object. The base URL is in STORAGE_EMULATOR_HOST."""

from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

client = storage.Client(project="project", credentials=AnonymousCredentials())
blob = client.bucket("bucket").blob("notes")
blob.reload()
print(blob.size)
