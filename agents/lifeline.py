"""The lifeline: a request that the gateway never answers, so that its end means the gateway's end."""

from __future__ import annotations

import os
import sys
import threading

from fieldmark.client import GatewayClient, GatewayGone, GatewayRefused


def hold_lifeline(gateway: GatewayClient) -> None:
    """Start a daemon thread that ends this process at once, whatever the agent is doing, when it breaks."""
    threading.Thread(target=_hold, args=(gateway,), name="lifeline", daemon=True).start()


def _hold(gateway: GatewayClient) -> None:
    try:
        gateway.get("/lifeline", timeout=None)
    except GatewayGone:
        os._exit(0)  # not sys.exit: the agent may be in a loop that never returns
    except GatewayRefused as error:
        print(f"lifeline refused: {error}", file=sys.stderr, flush=True)
    os._exit(1)
