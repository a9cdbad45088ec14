"""stripe (Python): creates one customer with the module-level interface, which retries twice by default."""

import sys

import stripe

stripe.api_key = "sk_test_key"
stripe.api_base = sys.argv[1]
print(stripe.Customer.create(email="user@example.com").id)
