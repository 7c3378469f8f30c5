"""A server whose event loop is blocked by a hash; it is its own client, too."""
import asyncio
import hashlib


def hash_password(text):
    return hashlib.pbkdf2_hmac('sha256', text, b'salt', 200000)


async def login(reader, writer):
    hash_password(await reader.readline())
    writer.write(b'ok')
    writer.close()


async def main():
    server = await asyncio.start_server(login, '127.0.0.1', 0)
    address = server.sockets[0].getsockname()
    while True:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b'secret\n')
        await reader.read()
        writer.close()
        await asyncio.sleep(0.05)


asyncio.run(main())
