# SPDX-License-Identifier: Apache-2.0
"""A server and its clients in one event loop."""
import asyncio

import aiohttp
from aiohttp import web


async def numbers(n):
    for i in range(n):
        yield sum(k * k for k in range(i * 10))
        await asyncio.sleep(0)


async def answer(request):
    found = [n async for n in numbers(20)]
    return web.json_response({'found': found, 'of': sorted(found, key=lambda n: -n)})


async def client(session, url):
    while True:
        async with session.get(url) as response:
            await response.json()


async def main():
    app = web.Application()
    app.router.add_get('/', answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, '127.0.0.1', 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(client(session, f'http://127.0.0.1:{port}/') for _ in range(4)))

asyncio.run(main())
