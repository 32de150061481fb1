"""Opens streams of server-sent events, all at once, and prints how many events came.

It does of each event what clients of language models do, and no more: it notes the time, and reads
the JSON. aiohttp is the library of vLLM's benchmark and of inference-perf, httpx that of guidellm.

    streams.py aiohttp|httpx URL STREAMS
"""

import asyncio
import contextlib
import json
import sys
import time

import aiohttp
import httpx
import uvloop

PER_CLIENT = 50  # streams of one client of httpx


def event(data, times):
    times.append(time.perf_counter())
    if data != "[DONE]":
        json.loads(data)


async def by_aiohttp(url, streams):
    async def stream(session, n):
        times, rest = [], b""
        async with session.get(f"{url}/{n}") as response:
            response.raise_for_status()
            async for chunk in response.content.iter_any():
                *events, rest = (rest + chunk).split(b"\n\n")
                for text in events:
                    event(text.decode().removeprefix("data: "), times)
        return times

    no_limit = aiohttp.ClientTimeout(total=None, sock_connect=None, sock_read=None)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=no_limit) as session:
        return await asyncio.gather(*(stream(session, n) for n in range(streams)))


async def by_httpx(url, streams):
    async def stream(client, n):
        times = []
        async with client.stream("GET", f"{url}/{n}") as response:
            response.raise_for_status()
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    event(line.removeprefix("data: "), times)
        return times

    # A client looks at all of its connections whenever one is opened or closed. With 1,000 of them that would cost
    # more than the events; guidellm shares them among processes.
    async with contextlib.AsyncExitStack() as stack:
        no_limit = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        new = lambda: stack.enter_async_context(httpx.AsyncClient(limits=no_limit, timeout=None, trust_env=False))
        clients = [await new() for _ in range(0, streams, PER_CLIENT)]
        return await asyncio.gather(*(stream(clients[n // PER_CLIENT], n) for n in range(streams)))


library, url, streams = sys.argv[1:]
times = uvloop.run({"aiohttp": by_aiohttp, "httpx": by_httpx}[library](url, int(streams)))
print(json.dumps({"events": sum(map(len, times))}))
