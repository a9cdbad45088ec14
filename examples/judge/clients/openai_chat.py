"""openai (Python): one chat completion. The base URL is in OPENAI_BASE_URL."""

from openai import OpenAI

client = OpenAI(api_key="key")
answer = client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "Hello"}])
print(answer.choices[0].message.content)
