"""TiTiler's factory for one COG at a time, as its documentation shows it."""

from fastapi import FastAPI
from titiler.core.errors import DEFAULT_STATUS_CODES, add_exception_handlers
from titiler.core.factory import TilerFactory

app = FastAPI()
app.include_router(TilerFactory().router)
add_exception_handlers(app, DEFAULT_STATUS_CODES)


@app.get("/healthz")
def ready():
    return {}
