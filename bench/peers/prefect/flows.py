"""Prefect's flows: reads a workload and a size from each line, and answers what it took."""

import json
import sys
import time

from prefect import flow, task

payload = sys.argv[1]


@task
def echo(n):
    return {"n": n, "payload": payload}


@flow
def one(n):
    return echo(n)


@flow
def chain(length):
    last = None
    for n in range(length):
        last = echo(n)
    return last


@flow
def fan(width):
    return [future.result() for future in echo.map(list(range(width)))]


@flow
def diamond(n):
    first = echo.submit(n)
    middle = [echo.submit(n, wait_for=[first]) for _ in range(3)]
    return echo.submit(n, wait_for=middle).result()


def measure(run, size):
    began = time.perf_counter()
    run(size)
    return (time.perf_counter() - began) * 1000


def answer(workload, size):
    if workload == "W1":
        return {"tasks": size, "latencies": [measure(one, n) for n in range(size)]}
    if workload == "W4":
        return {"tasks": 5 * size, "wallMs": sum(measure(diamond, n) for n in range(size))}
    return {"tasks": size, "wallMs": measure({"W2": chain, "W3": fan}[workload], size)}


print("ready", flush=True)
for line in sys.stdin:
    print(json.dumps(answer(**json.loads(line))), flush=True)
