"""Opens streams of server-sent events by guidellm, all at once, and prints how many events it says came.

What is measured is guidellm's own: the function behind its command with its loader, scheduler, worker processes, client
of completions and report. Its client is changed in two things. It asks the server neither for its models nor for a test
completion, since the server counts requests; and it numbers its requests, so that the times of events differ between
them, as the other generators do by the path. And its worker processes sleep where they would ask for requests that do
not come, which spares them processor time.

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
# How long its scheduler sleeps between two looks for a result of a worker process, of which there are three for each
# request. By default it is 0.1 ms: it then looks as often as its processor can, for as long as streams are open. With
# longer sleeps than this it costs no less, as it takes longer to end.
os.environ["GUIDELLM__DEFAULT_ASYNC_LOOP_SLEEP"] = "0.003"
# The fewest worker processes with connections for all: the client of each has as many as HTTPX gives it. By default they
# are one fewer than processors, and at least 10.
CONNECTIONS = 100
url, streams, events = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.environ["GUIDELLM__MAX_WORKER_PROCESSES"] = str(-(-streams // CONNECTIONS))

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


class Sleeping:
    """asyncio for guidellm's worker processes, whose loop sleeps when it has found no request.

    A worker process that has room for a request asks for one again and again, without a pause. In a run that goes on
    there is one; here there is none from when the first of its streams has ended, and to ask would cost more than the
    streams.
    """

    SECONDS = 0.1
    found = True

    def __getattr__(self, name):
        return getattr(asyncio, name)

    def create_task(self, task):
        self.found = True
        return asyncio.create_task(task)

    def sleep(self, seconds):
        found, self.found = self.found, False
        return asyncio.sleep(seconds if found else max(seconds, self.SECONDS))


async def run():
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


worker.asyncio = Sleeping()
# Its processes would go on without this one.
libc = ctypes.CDLL(None)
os.register_at_fork(after_in_child=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
print(json.dumps({"events": asyncio.run(run())}), file=result, flush=True)
