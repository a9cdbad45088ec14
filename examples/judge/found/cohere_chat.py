import sys

import cohere

client = cohere.ClientV2(api_key="any", base_url=sys.argv[1], timeout=4)
options = {"max_retries": 4}
print(client.chat(model="any", messages=[{"role": "user", "content": "Hello"}], request_options=options))
