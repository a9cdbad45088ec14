// stripe (Node.js): creates one customer.
import Stripe from 'stripe';

const url = new URL(process.argv[2]);
const client = new Stripe('sk_test_key', { protocol: 'http', host: url.hostname, port: url.port });
console.log((await client.customers.create({ email: 'user@example.com' })).id);
