"""The worker in Python of the chaos test: it ends each attempt as its script says."""

from rmhdag import Context, PermanentError, ThrottlingError, TransientError, handler, run

errors = {"permanent": PermanentError, "transient": TransientError, "throttling": ThrottlingError}


@handler("chaos.script", queue="chaos-python", timeout_seconds=300)
def script(ctx: Context, script: list[str], value: str, seconds: float = 0) -> dict:
    ctx.sleep(seconds)
    step = script[min(ctx.attempt, len(script) - 1)]
    if step in errors:
        raise errors[step]("boom")
    return {"ran": value}


if __name__ == "__main__":
    run(concurrency=4, shutdown_seconds=2)
