"""stripe (Python): creates one customer with StripeClient. It retries only with `max_network_retries`."""

import sys

import stripe

client = stripe.StripeClient("sk_test_key", base_addresses={"api": sys.argv[1]}, max_network_retries=2)
print(client.v1.customers.create({"email": "user@example.com"}).id)
