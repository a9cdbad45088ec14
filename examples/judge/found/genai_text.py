import sys

from google import genai
from google.genai.types import HttpOptions, HttpRetryOptions

retries = HttpRetryOptions(attempts=4, initial_delay=0.5)
client = genai.Client(api_key="any", http_options=HttpOptions(base_url=sys.argv[1], timeout=4000, retry_options=retries))
print(client.models.generate_content(model="gemini-2.5-flash", contents="Hello").text)
