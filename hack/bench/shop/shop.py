# The purchase of shop.yaml: locust --headless --host http://shop --users 32 --run-time 20s -f shop.py
import itertools
import random
import re
from pathlib import Path

from locust import FastHttpUser, task

WORDS = Path(__file__).with_name("words.csv").read_text().split()[1:]
CSRF = re.compile(r'name="csrf" value="([^"]+)"')


class Customer(FastHttpUser):
    numbers = itertools.count(1)

    def on_start(self):
        self.email = f"user-{next(self.numbers)}@example.com"

    # Locust counts a status from 400 on as a failure; raise_for_status ends the task, too.
    @task
    def purchase(self):
        with self.client.get("/login", catch_response=True) as form:
            csrf = CSRF.search(form.text or "")
            if not csrf:
                form.failure("no csrf token")
                return

        login = {"csrf": csrf[1], "email": self.email}
        self.client.post("/login", data=login).raise_for_status()

        found = self.client.get(f"/search?q={random.choice(WORDS)}", name="/search")
        found.raise_for_status()

        cart = {"product": found.json()["products"][0]["id"]}
        self.client.post("/cart", data=cart).raise_for_status()

        checkout = self.client.post("/checkout")
        checkout.raise_for_status()
        order = checkout.json()["order"]

        for _ in range(10):
            state = self.client.get(f"/orders/{order}", name="/orders/[id]")
            state.raise_for_status()
            if state.json()["paid"]:
                return
        raise RuntimeError("the order was not paid in 10 tries")
