"""Opens streams of server-sent events by guidellm, all at once, and prints how many events it says came.

What is measured is guidellm's own: its command's function with its loader, scheduler, worker processes, client of
completions and report. Of its client alone, two things are changed. It asks the server neither for its models nor for
a test completion, since the server counts requests; and it numbers its requests, so that each has other times of its
events, as the other generators do by the path.

    guidellm_streams.py URL STREAMS EVENTS
"""

import asyncio
import ctypes
import itertools
import json
import os
import signal
import sys

# What it prints, a log among it, goes beside the result.
result = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
os.environ["HF_HUB_OFFLINE"] = "1"
# How long guidellm's scheduler sleeps after each result of a worker process and each look for one. By default it is
# 0.1 ms, so that it looks as often as its processor can, for as long as streams are open. This setting costs it least
# here: a longer one lets its workers wait for their end, and they look for requests meanwhile.
os.environ["GUIDELLM__DEFAULT_ASYNC_LOOP_SLEEP"] = os.environ.get("LOOP_SLEEP", "0.001")

from guidellm.backend import Backend
from guidellm.backend.openai import OpenAIHTTPBackend
from guidellm.benchmark.entrypoints import benchmark_generative_text
from guidellm.scheduler import worker

MODEL, TEXT = "m", " a"  # of the server's events
PR_SET_PDEATHSIG = 1
numbers = itertools.count()


@Backend.register("streams")
class Streams(OpenAIHTTPBackend):
    async def available_models(self):
        return [MODEL]

    async def validate(self):
        pass

    def _headers(self):
        # Processes are copies of the first one: each counts from 0.
        return {**super()._headers(), "Number": str(os.getpid() << 20 | next(numbers))}


class Rested:
    """asyncio for guidellm's worker processes, whose loop rests where it has found no request.

    A worker process that has room for a request asks for one again and again, without a pause, as long as there is
    none: when its first stream has ended, that is, since no more are asked for here. That would cost more than the
    streams.
    """

    REST = 0.1
    found = True

    def __getattr__(self, name):
        return getattr(asyncio, name)

    def create_task(self, task):
        self.found = True
        return asyncio.create_task(task)

    def sleep(self, seconds):
        found, self.found = self.found, False
        return asyncio.sleep(seconds if found else max(seconds, self.REST))


async def run(url, streams, events):
    # The number of tokens is in the data, as it is where guidellm makes prompts itself: it needs no tokenizer then.
    prompt = {"prompt": "Count the letters of this text.", "prompt_tokens_count": 7, "output_tokens_count": events}
    report, _ = await benchmark_generative_text(
        target=url, backend_type="streams", backend_args=None, model=MODEL, processor=None, processor_args=None,
        data=[prompt] * streams, data_args=None, data_sampler=None, rate_type="concurrent", rate=[float(streams)],
        max_seconds=None, max_requests=streams, warmup_percent=None, cooldown_percent=None, output_path=None,
        output_extras=None, output_sampling=None, random_seed=42, show_progress=False, output_console=False,
    )  # fmt: skip
    requests = report.benchmarks[0].requests
    for failed in requests.errored + requests.incomplete:
        raise SystemExit(f"a request failed: {failed.error}")
    # The text is what came, other than the number of tokens, which is that of the data. The event [DONE], at which it
    # stops reading, has none.
    return sum(len(r.output) // len(TEXT) + 1 for r in requests.successful)


worker.asyncio = Rested()
# Its processes would go on without this one.
libc = ctypes.CDLL(None)
os.register_at_fork(after_in_child=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
url, streams, events = sys.argv[1:]
print(json.dumps({"events": asyncio.run(run(url, int(streams), int(events)))}), file=result, flush=True)
