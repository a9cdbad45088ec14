"""cloudflare (Python): reads one zone. The base URL is in CLOUDFLARE_BASE_URL."""

from cloudflare import Cloudflare

client = Cloudflare(api_token="token")
print(client.zones.get(zone_id="023e105f4ecef8ad9ca31a8372d0c353").name)
