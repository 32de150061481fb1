// The purchase of shop.yaml. The shop's URL is in the environment: k6 run -e SHOP=http://shop shop.js
import http from 'k6/http';
import { check, fail } from 'k6';
import { SharedArray } from 'k6/data';

export const options = {
  vus: 32,
  duration: '20s',
  thresholds: { checks: ['rate>0.99'] },
};

const words = new SharedArray('words', () => open('./words.csv').trim().split('\n').slice(1));
const shop = __ENV.SHOP;

// A response that is not as it should be ends the iteration.
function expect(response, checks) {
  if (!check(response, checks)) {
    fail(`${response.request.method} ${response.url}: ${response.status}`);
  }
}

const ok = { 'status is 200': (r) => r.status === 200 };

export default function () {
  const form = http.get(`${shop}/login`);
  const csrf = form.html().find('input[name=csrf]').attr('value');
  expect(form, { ...ok, 'has a csrf token': () => csrf !== undefined });

  const home = http.post(`${shop}/login`, { csrf, email: `user-${__VU}@example.com` });
  expect(home, ok);

  const word = words[Math.floor(Math.random() * words.length)];
  const found = http.get(`${shop}/search?q=${word}`, { tags: { name: 'search' } });
  expect(found, ok);

  const cart = http.post(`${shop}/cart`, { product: found.json('products.0.id') });
  expect(cart, ok);

  const checkout = http.post(`${shop}/checkout`);
  expect(checkout, ok);
  const order = checkout.json('order');

  for (let tries = 0; tries < 10; tries++) {
    const state = http.get(`${shop}/orders/${order}`, { tags: { name: 'order' } });
    expect(state, ok);
    if (state.json('paid')) {
      return;
    }
  }
  fail('the order was not paid in 10 tries');
}
