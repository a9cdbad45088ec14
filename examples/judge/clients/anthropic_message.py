"""anthropic (Python): one message. The base URL is in ANTHROPIC_BASE_URL."""

from anthropic import Anthropic

client = Anthropic(api_key="key")
answer = client.messages.create(
    model="claude-haiku-4-5", max_tokens=16, messages=[{"role": "user", "content": "Hello"}]
)
print(answer.content[0].text)
